import { describe, expect, it } from 'vitest';
import type { RunPayload } from '../../../src/machines/run/run-output.ts';
import { checkDraft } from '../../../src/machines/session/session-event.ts';
import { stepEvents } from '../../../src/machines/turn/step-events.ts';
import type { FinishedStep, StepEvents } from '../../../src/machines/turn/step-events.ts';

function step(payloads: readonly RunPayload[], rest: Partial<FinishedStep> = {}): StepEvents {
  let calls = 0;
  const events = stepEvents({
    spanId: 's',
    payloads,
    modelSteps: 1,
    consumed: [],
    newCallId: () => `call_${(calls += 1)}`,
    ...rest,
  });
  events.drafts.forEach(checkDraft);
  return events;
}
const typesOf = ({ drafts }: StepEvents): string[] => drafts.map(({ type }) => type);

describe('a model step that ended', () => {
  it('is stored as what it read, what it thought, said and asked for as it came, and what it decided', () => {
    const events = step(
      [
        { type: 'text', text: 'One.' },
        { type: 'tool_call', callId: 'same', name: 'a', input: { x: 1 } },
        { type: 'reasoning', text: 'hm' },
        { type: 'tool_call', callId: 'same', name: 'b', input: {} },
        { type: 'text', text: 'Two.' },
        { type: 'directive', directive: { outcome: 'sleep', summary: 'x' } },
      ],
      { consumed: ['e1'], usage: { inputTokens: 3 } },
    );
    expect(typesOf(events)).toEqual([
      'message.consumed',
      'agent.message',
      'agent.tool_use',
      'agent.thinking',
      'agent.tool_use',
      'directive.accepted',
      'span.completed',
    ]);
    expect(events.calls).toEqual([
      { callId: 'call_1', name: 'a', input: { x: 1 } },
      { callId: 'call_2', name: 'b', input: {} },
    ]);
    expect(events.text).toBe('One.\n\nTwo.');
    expect(events.drafts.at(-1)).toMatchObject({
      data: { outcome: 'completed', modelSteps: 1, usage: { inputTokens: 3 } },
    });
  });

  it('that said nothing leaves only its end', () => {
    expect(typesOf(step([]))).toEqual(['span.completed']);
    expect(
      typesOf(
        step([
          { type: 'text', text: '' },
          { type: 'reasoning', text: '' },
        ]),
      ),
    ).toEqual(['span.completed']);
  });

  it('has a malformed directive on record', () => {
    expect(step([{ type: 'directive', directive: { outcome: 'fly' } }]).drafts[0]).toMatchObject({
      type: 'directive.rejected',
      data: { received: '{"outcome":"fly"}' },
    });
  });

  it('gives a call without input an empty one', () => {
    expect(step([{ type: 'tool_call', callId: 'x', name: 'a', input: undefined }]).calls).toEqual([
      { callId: 'call_1', name: 'a', input: {} },
    ]);
  });
});

describe('a model step that failed', () => {
  it.each([
    ['rate_limit', 'failed'],
    ['aborted', 'aborted'],
  ] as const)('with %s is stored as %s, and read nothing', (kind, outcome) => {
    const events = step([{ type: 'text', text: 'partial' }], {
      error: { kind, message: 'no' },
      modelSteps: 0,
      consumed: ['e1'],
    });
    expect(events).toMatchObject({
      calls: [],
      text: '',
      drafts: [{ type: 'span.completed', data: { outcome, modelSteps: 0, error: { kind, message: 'no' } } }],
    });
  });
});
