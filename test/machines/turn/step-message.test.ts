import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentRunEvent, AgentRunEventBody } from '../../../src/machines/run/run-output.ts';
import type { AssistantMessage } from '../../../src/machines/turn/provider-message.ts';
import { StreamStepMessageBuilder } from '../../../src/machines/turn/step-message.ts';

const says = (kind: 'text' | 'reasoning', text: string): AgentRunEventBody => ({
  stream: 'assistant',
  data: { kind, text },
});
const calls = (callId: string, name = 'read'): AgentRunEventBody => ({
  stream: 'tool',
  data: { phase: 'requested', callId, name, input: {} },
});

function built(...bodies: readonly AgentRunEventBody[]): AssistantMessage {
  const builder = new StreamStepMessageBuilder();
  for (const [index, body] of bodies.entries())
    builder.ingest({ ...body, runId: 'r', seq: index + 1, ts: '2026-01-01T00:00:00.000Z' });
  expect(builder.get()).toEqual(builder.get());
  return builder.get();
}

describe('the message of a step that streams', () => {
  it('holds what came in the order in which it came, deltas of one kind joined', () => {
    expect(
      built(
        says('reasoning', 'h'),
        says('reasoning', 'm'),
        says('text', 'I '),
        says('text', 'check.'),
        calls('c'),
        says('text', 'Wait.'),
      ).content,
    ).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'I check.' },
      { type: 'tool_call', callId: 'c', name: 'read', input: {} },
      { type: 'text', text: 'Wait.' },
    ]);
  });

  it('passes over empty deltas, calls that come again, and the life of the run', () => {
    const start: AgentRunEventBody = { stream: 'lifecycle', data: { phase: 'start', provider: 'p', model: 'm' } };
    expect(
      built(
        start,
        says('text', 'a'),
        says('reasoning', ''),
        says('text', 'b'),
        calls('c', 'first'),
        calls('c', 'second'),
        calls('d'),
      ).content,
    ).toMatchObject([{ text: 'ab' }, { name: 'first' }, { callId: 'd' }]);
    expect(built(start)).toEqual({ role: 'assistant', content: [] });
  });

  it('is a value: what was got does not change when more comes', () => {
    const builder = new StreamStepMessageBuilder();
    const event: AgentRunEvent = { ...says('text', 'a'), runId: 'r', seq: 1, ts: '' };
    builder.ingest(event);
    const before = builder.get();
    builder.ingest(event);
    expect(before.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(builder.get().content).toEqual([{ type: 'text', text: 'aa' }]);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a part of the AI SDK',
      { type: 'text-delta', delta: 'Hello' },
      /expected an event of a run.*received an object with type, delta/,
    ],
    ['a text', 'Hello', /received string/],
    ['nothing', undefined, /received undefined/],
  ])('refuses what is no event of a run: %s', (_, event, message) => {
    const builder = new StreamStepMessageBuilder();
    expect(() => builder.ingest(event as AgentRunEvent)).toThrow(
      expect.objectContaining({ code: 'RUN_EVENT_INVALID', message: expect.stringMatching(message) }),
    );
    expect(builder.get().content).toEqual([]);
  });

  it('is the same however its texts are split', () => {
    const piece = fc.record({
      kind: fc.constantFrom('text', 'reasoning', 'call'),
      text: fc.string({ unit: 'binary', maxLength: 12 }),
      cuts: fc.array(fc.nat(12), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const whole = pieces.map(({ kind, text }) => (kind === 'call' ? calls(text) : says(kind, text)));
        const split = pieces.flatMap(({ kind, text, cuts }) => {
          if (kind === 'call') return [calls(text)];
          const places = [
            0,
            ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((one, other) => one - other),
            text.length,
          ];
          return places.slice(1).map((place, index) => says(kind, text.slice(places[index], place)));
        });
        expect(built(...split)).toEqual(built(...whole));
      }),
    );
  });
});
