import { describe, expect, it } from 'vitest';
import { MAX_OPEN_QUEUED_WAKES, MAX_SUMMARY_CHARACTERS } from '../../../src/machines/session/limits.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { stateAfter } from '../../../src/machines/session/session-rules.ts';
import { commitEvents } from '../../../src/machines/wake/wake-commit.ts';
import type { WakeCommit } from '../../../src/machines/wake/wake-commit.ts';
import type { WakeEnd } from '../../../src/machines/wake/wake-decision.ts';
import type { DirectiveInput } from '../../../src/machines/wake/directive.ts';
import {
  START_MS,
  asked,
  created,
  following,
  logOf,
  foldAll,
  queued,
  running,
  spanStarted,
  wakeStarted,
} from '../../support/session-events.ts';

const accept = (directive: Partial<DirectiveInput>): SessionEventDraft => ({
  type: 'directive.accepted',
  data: { directive: { outcome: 'sleep', summary: 'done', ...directive }, spanId: 's' },
});
const SLEEP: WakeEnd = { outcome: 'sleep', summary: 'done' };

function commit(
  events: readonly SessionEventDraft[],
  end: WakeEnd = SLEEP,
  rest: Partial<WakeCommit> = {},
): SessionEventDraft[] {
  const log = logOf(...events);
  const state = foldAll(log);
  const { openWake } = state;
  if (openWake === undefined) throw new Error('no wake is open');
  let ids = 0;
  const drafts = commitEvents({
    state,
    wake: openWake,
    end,
    modelSteps: 1,
    maxAutonomousWakes: 1_000,
    lastText: undefined,
    nowMs: START_MS,
    newId: () => `new_${(ids += 1)}`,
    ...rest,
  });
  // What a commit makes can always be appended.
  stateAfter(state, following(state, drafts));
  return drafts;
}

const open = [created, wakeStarted(1), running] as const;
const typesOf = (drafts: readonly SessionEventDraft[]): string[] => drafts.map(({ type }) => type);
const dataOf = (drafts: readonly SessionEventDraft[], type: string): unknown[] =>
  drafts.filter((draft) => draft.type === type).map(({ data }) => data);

describe('the end of a wake', () => {
  it('says how it ended and brings the session to rest', () => {
    expect(commit([...open])).toMatchObject([
      { type: 'wake.ended', data: { wakeId: 'wake_1', outcome: 'sleep', summary: 'done', modelSteps: 1 } },
      { type: 'session.status_changed', data: { to: 'idle', stopReason: 'idle' } },
      { type: 'session.status_idle', data: { reason: 'idle', summary: 'done' } },
    ]);
  });

  it('carries out what every directive of the wake asked for', () => {
    const drafts = commit([
      ...open,
      accept({
        queuedWakes: [{ reason: 'a', delaySeconds: 60, note: 'n' }],
        learnings: [{ kind: 'lesson', title: 't', detail: 'd' }],
      }),
      accept({ followUpSeconds: 5 }),
    ]);
    expect(dataOf(drafts, 'wake.queued')).toEqual([
      {
        queuedWakeId: 'new_1',
        reason: 'a',
        dueAt: new Date(START_MS + 60_000).toISOString(),
        note: 'n',
        priority: 'normal',
      },
      {
        queuedWakeId: 'new_3',
        reason: 'follow_up',
        dueAt: new Date(START_MS + 5_000).toISOString(),
        priority: 'normal',
      },
    ]);
    expect(dataOf(drafts, 'learning.captured')).toEqual([
      { learningId: 'new_2', kind: 'lesson', title: 't', detail: 'd', promoteToMemory: false },
    ]);
  });

  it('refuses a wake under a key that is queued, and says so', () => {
    const drafts = commit([
      queued('q', undefined, 'k'),
      ...open,
      accept({
        queuedWakes: [
          { reason: 'again', delaySeconds: 1, dedupeKey: 'k' },
          { reason: 'new', delaySeconds: 1, dedupeKey: 'l' },
        ],
      }),
    ]);
    expect(dataOf(drafts, 'wake.refused')).toEqual([{ reason: 'again', because: 'duplicate', dedupeKey: 'k' }]);
    expect(dataOf(drafts, 'wake.queued')).toMatchObject([{ reason: 'new' }]);
  });

  it('queues a wake under the key of the one that has just been done', () => {
    const drafts = commit([
      queued('q', undefined, 'k'),
      wakeStarted(1, 'wake_1', ['q']),
      running,
      accept({ queuedWakes: [{ reason: 'again', delaySeconds: 1, dedupeKey: 'k' }] }),
    ]);
    expect(typesOf(drafts)).not.toContain('wake.refused');
    expect(dataOf(drafts, 'wake.ended')).toMatchObject([{ completedWakeIds: ['q'] }]);
  });

  it('refuses wakes beyond the limit, one by one', () => {
    const many = Array.from({ length: MAX_OPEN_QUEUED_WAKES - 1 }, (_, index) => queued(`q${index}`));
    const drafts = commit([
      ...many,
      ...open,
      accept({ queuedWakes: [1, 2, 3].map((n) => ({ reason: `r${n}`, delaySeconds: 1 })) }),
    ]);
    expect(dataOf(drafts, 'wake.queued')).toMatchObject([{ reason: 'r1' }]);
    expect(dataOf(drafts, 'wake.refused')).toEqual([
      { reason: 'r2', because: 'limit' },
      { reason: 'r3', because: 'limit' },
    ]);
  });

  it('leaves queued wakes due when it failed or was stopped', () => {
    const due = [queued('q'), wakeStarted(1, 'wake_1', ['q']), running];
    const error = {
      name: 'RuntimeError',
      code: 'RUN_FAILED',
      category: 'provider',
      message: 'no answer',
      recoverable: true,
      hint: 'Try again.',
    } as const;
    expect(dataOf(commit(due, { outcome: 'failed', error }), 'wake.ended')).toMatchObject([
      { completedWakeIds: [], error: { code: 'RUN_FAILED' }, summary: 'The wake failed: no answer. Try again.' },
    ]);
    expect(dataOf(commit(due, { outcome: 'aborted', reason: 'enough' }), 'wake.ended')).toMatchObject([
      { completedWakeIds: [], summary: 'The wake was stopped: enough. Wake the session again to go on.' },
    ]);
    expect(
      dataOf(
        commit(due, { outcome: 'budget_reached', budget: { name: 'maxModelStepsPerWake', value: 1 } }),
        'wake.ended',
      ),
    ).toMatchObject([{ completedWakeIds: ['q'], budget: { name: 'maxModelStepsPerWake', value: 1 } }]);
  });

  it('waits for what it asked outside, by the id of the event that asks', () => {
    const drafts = commit([...open, accept({ customToolRequest: { name: 'ask', input: { q: 1 } } })], {
      outcome: 'requires_action',
      summary: 'asking',
    });
    expect(drafts).toMatchObject([
      { id: 'new_1', type: 'agent.custom_tool_use', data: { requestId: 'new_1', name: 'ask', input: { q: 1 } } },
      { type: 'wake.ended' },
      { type: 'session.status_changed', data: { to: 'idle', stopReason: 'requires_action' } },
      { type: 'session.status_idle', data: { reason: 'requires_action', blockingEventIds: ['new_1'] } },
    ]);
  });

  it('goes to rescheduling when it continues later', () => {
    const drafts = commit([...open, accept({ outcome: 'continue', followUpSeconds: 9 })], {
      outcome: 'rescheduled',
      summary: 'later',
    });
    expect(typesOf(drafts)).toEqual(['wake.queued', 'wake.ended', 'session.status_changed']);
    expect(dataOf(drafts, 'session.status_changed')).toMatchObject([{ to: 'rescheduling' }]);
  });

  it('closes what is still open: a call that started is unknown, one that did not is cancelled', () => {
    const drafts = commit([
      ...open,
      spanStarted('s'),
      asked('c', 's'),
      asked('d', 's'),
      { type: 'agent.tool_started', data: { callId: 'c' } },
    ]);
    expect(drafts).toMatchObject([
      { type: 'agent.tool_result', data: { callId: 'c', outcome: 'unknown' } },
      { type: 'agent.tool_result', data: { callId: 'd', outcome: 'cancelled' } },
      { type: 'span.completed', data: { outcome: 'lost' } },
      { type: 'wake.ended' },
      {},
      {},
    ]);
  });

  it('changes no status of a session that was terminated', () => {
    const drafts = commit(
      [...open, { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated' } }],
      { outcome: 'terminated' },
    );
    expect(typesOf(drafts)).toEqual(['wake.ended']);
  });

  it.each<[string, WakeEnd, string | undefined, string]>([
    ['the directive’s', { outcome: 'sleep', summary: 'from the directive' }, 'last words', 'from the directive'],
    ['the last words without a directive', { outcome: 'sleep', summary: undefined }, 'last words', 'last words'],
    [
      'a sentence when nothing was said',
      { outcome: 'sleep', summary: undefined },
      undefined,
      'The turn ended without a summary.',
    ],
    [
      'what to do at a budget',
      { outcome: 'budget_reached', budget: { name: 'maxModelStepsPerWake', value: 1 } },
      'x',
      'Stopped after 1 model step at the budget maxModelStepsPerWake (1). Wake the session again, or send a message, to go on.',
    ],
  ])('has for summary %s', (_name, end, lastText, summary) => {
    expect(dataOf(commit([...open], end, { lastText }), 'wake.ended')).toMatchObject([{ summary }]);
  });

  it('has a summary of bounded length', () => {
    const [ended] = dataOf(
      commit([...open], { outcome: 'sleep', summary: undefined }, { lastText: 'x'.repeat(10_000) }),
      'wake.ended',
    );
    expect((ended as { summary: string }).summary).toHaveLength(MAX_SUMMARY_CHARACTERS);
  });
});
