/** What a session has used is counted from its log, and what nobody knows is said to be unknown. */
import { describe, expect, it } from 'vitest';
import { SessionUsage } from '../../../src/machines/inspection-log/session-usage.ts';
import type { InspectedUsage } from '../../../src/machines/inspection-log/session-usage.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { created, logOf, message } from '../../support/session-events.ts';

const began = (wakeId: string): SessionEventDraft => ({
  type: 'wake.started',
  data: { wakeId, epoch: 1, owner: 'x', queuedWakeIds: [] },
});
const ended = (wakeId: string, outcome: 'sleep' | 'lost' = 'sleep'): SessionEventDraft => ({
  type: 'wake.ended',
  data: { wakeId, outcome, summary: '', modelSteps: 1, completedWakeIds: [] },
});
type Usage = NonNullable<(SessionEventDraft & { readonly type: 'span.completed' })['data']['usage']>;
const step = (
  spanId: string,
  usage: Usage | undefined,
  { model = 'gpt-5', outcome = 'completed' }: { readonly model?: string; readonly outcome?: 'completed' | 'lost' } = {},
): SessionEventDraft[] => [
  {
    type: 'span.started',
    data: {
      spanId,
      kind: 'model_step',
      backend: 'b',
      provider: model === 'play' ? 'script' : 'openai',
      model,
      step: 1,
    },
  },
  {
    type: 'span.completed',
    data: { spanId, kind: 'model_step', outcome, modelSteps: 1, ...(usage === undefined ? {} : { usage }) },
  },
];
const used = (...drafts: readonly SessionEventDraft[]): InspectedUsage => {
  const usage = new SessionUsage({ 'own-model': { input: 1, output: 10 } });
  for (const event of logOf(created, message('Go.'), ...drafts)) usage.see(event);
  return usage.used;
};

describe('the usage of a session', () => {
  it('is told wake by wake', () => {
    const call: SessionEventDraft = {
      type: 'agent.tool_use',
      data: { callId: 'c', name: 'read', input: {}, spanId: 's1' },
    };
    const total = used(
      began('w1'),
      ...step('s1', { inputTokens: 100, outputTokens: 10, cost: 0.5 }),
      call,
      ...step('s2', { inputTokens: 50, cost: 0.25 }),
      ended('w1'),
      began('w2'),
    );
    expect(total).toMatchObject({ inputTokens: 150, outputTokens: 10, cost: 0.75, isCostPartial: false, wakeCount: 2 });
    // By which a reader prices each step.
    expect(Object.keys(total.prices ?? {})).toHaveLength(1);
    expect(total.wakes).toMatchObject([
      { wakeId: 'w1', outcome: 'sleep', steps: 2, toolCalls: 1, tokens: 160, cost: 0.75, endedAt: expect.any(String) },
      { wakeId: 'w2', steps: 0, tokens: 0 },
    ]);
    expect(total.wakes[1]).not.toHaveProperty('outcome');
  });

  it('costs what the provider said, else what the price says', () => {
    expect(
      used(began('w'), ...step('s', { inputTokens: 1_000_000, outputTokens: 100_000 }, { model: 'own-model' })),
    ).toMatchObject({ cost: 2, isCostPartial: false });
    expect(used(began('w'), ...step('s', { inputTokens: 1_000_000, cost: 0.1 }, { model: 'own-model' }))).toMatchObject(
      { cost: 0.1 },
    );
  });

  it('is partly known where there is no price, or nobody told the tokens', () => {
    const unknown = used(
      began('w'),
      ...step('s1', { inputTokens: 5 }, { model: 'who-knows' }),
      ...step('s2', { cost: 1 }),
    );
    expect(unknown).toMatchObject({ inputTokens: 5, cost: 1, isCostPartial: true });
    expect(used(began('w'), ...step('s', { inputTokens: 5 }, { model: 'who-knows' }))).not.toHaveProperty('cost');
    expect(used(began('w'), ...step('s', undefined, { outcome: 'lost' }))).toMatchObject({ isCostPartial: true });
    expect(used(began('w'), ...step('s', undefined, { model: 'play' }))).toMatchObject({
      cost: 0,
      isCostPartial: false,
    });
  });

  it('is that of whoever answered, where others were asked before', () => {
    const [start, end] = step('s', { inputTokens: 1_000_000 }) as [SessionEventDraft, SessionEventDraft];
    const other: SessionEventDraft = {
      type: 'run.candidate_selected',
      data: {
        spanId: 's',
        attempt: 2,
        candidate: { provider: 'x', model: 'own-model' },
        backend: 'b',
        because: 'it failed',
      },
    };
    expect(used(began('w'), start, other, end)).toMatchObject({ cost: 1 });
  });

  it('lists the last 200 wakes, and counts all', () => {
    const many = Array.from({ length: 250 }, (_, index) => [began(`w${index}`), ended(`w${index}`)]).flat();
    const { wakes, wakeCount } = used(...many);
    expect([wakes.length, wakes[0]?.wakeId, wakes.at(-1)?.wakeId, wakeCount]).toEqual([200, 'w50', 'w249', 250]);
  });

  it('has the end of a lost wake, which another one wrote', () => {
    expect(used(began('w1'), began('w2'), ended('w1', 'lost')).wakes).toMatchObject([
      { wakeId: 'w1', outcome: 'lost' },
      { wakeId: 'w2' },
    ]);
  });
});
