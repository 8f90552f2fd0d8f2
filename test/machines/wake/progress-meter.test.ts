/** How a wake is told from one that goes round in circles: by what it asks for and by what comes of it. */
import { describe, expect, it } from 'vitest';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { ProgressMeter } from '../../../src/machines/wake/progress-meter.ts';
import { consumed, eventAt, spanStarted } from '../../support/session-events.ts';

/** A step asks for calls, each `[name and input, what came of it]`. `say`: somebody wrote. */
type Happening = readonly (readonly [call: string, result: unknown])[] | 'say';

function after(...happenings: readonly Happening[]): ProgressMeter {
  const meter = new ProgressMeter();
  let seq = 0;
  const ingest = (draft: SessionEventDraft): void => meter.ingest(eventAt((seq += 1), draft));
  let isHeard = false;
  for (const [step, happening] of happenings.entries()) {
    if (happening === 'say') {
      isHeard = true;
      continue;
    }
    ingest(spanStarted(`s${step}`));
    // A step says with what it answers which messages it has read.
    if (isHeard) ingest(consumed(['m'], 's'));
    isHeard = false;
    for (const [index, [call]] of happening.entries())
      ingest({
        type: 'agent.tool_use',
        data: { callId: `${step}.${index}`, name: call, input: { call }, spanId: 's' },
      });
    for (const [index, [call, output]] of happening.entries())
      ingest({
        type: 'agent.tool_result',
        data: { callId: `${step}.${index}`, name: call, outcome: 'completed', output },
      });
  }
  ingest(spanStarted('last'));
  return meter;
}

const times = (count: number, happening: Happening): Happening[] => Array.from({ length: count }, () => happening);
const A: Happening = [['a', 1]];
const B: Happening = [['b', 1]];

describe('progress', () => {
  it.each<[string, readonly Happening[], number, number]>([
    ['a first call is new', [A], 0, 0],
    ['the same call with the same result is counted, call by call and step by step', times(4, A), 3, 3],
    [
      'the same call with another result each time is news, such as a clock',
      [[['a', 1]], [['a', 2]], [['a', 3]]],
      0,
      0,
    ],
    [
      'a result that came before, but not last, is news: it has changed back',
      [[['a', 1]], [['a', 2]], [['a', 1]]],
      0,
      0,
    ],
    ['two calls in turn are not the same call, but nothing new either', [A, B, A, B, A, B], 0, 4],
    [
      'a step in which one of several calls is new gets on',
      [
        A,
        [
          ['a', 1],
          ['b', 1],
        ],
        [
          ['a', 1],
          ['c', 1],
        ],
      ],
      0,
      0,
    ],
    [
      'the same call twice in one step counts twice',
      [
        [
          ['a', 1],
          ['a', 1],
          ['a', 1],
        ],
      ],
      2,
      0,
    ],
    ['a step without calls says nothing about it', [A, A, [], [], A], 2, 2],
    ['whoever says something new gives a reason to try again', [...times(4, A), 'say', A], 1, 1],
    ['and what was known stays known', [A, 'say', B, A, B, A], 0, 3],
  ])('%s', (_what, happenings, identicalCalls, stepsWithoutProgress) => {
    const meter = after(...happenings);
    expect({ identicalCalls: meter.identicalCalls, stepsWithoutProgress: meter.stepsWithoutProgress }).toEqual({
      identicalCalls,
      stepsWithoutProgress,
    });
  });

  it('does not mind in which order the keys of an input stand', () => {
    const meter = new ProgressMeter();
    for (const [index, input] of [
      { x: 1, y: [2] },
      { y: [2], x: 1 },
    ].entries()) {
      meter.ingest(
        eventAt(index * 2 + 1, {
          type: 'agent.tool_use',
          data: { callId: `c${index}`, name: 'a', input, spanId: 's' },
        }),
      );
      meter.ingest(
        eventAt(index * 2 + 2, {
          type: 'agent.tool_result',
          data: { callId: `c${index}`, name: 'a', outcome: 'completed', output: null },
        }),
      );
    }
    expect(meter.identicalCalls).toBe(1);
  });

  it('tells calls apart by name, input, outcome and output, whatever is in them', () => {
    const outputs = [
      '',
      ' ',
      'a',
      '\ud800',
      '\udfff',
      '__proto__',
      'ä',
      'a\u0308',
      null,
      0,
      -0.5,
      [],
      {},
      [[]],
      { a: [] },
      { '': 0 },
      '0',
      'null',
      '[]',
    ];
    const meter = after(...outputs.map((output): Happening => [['a', output]]));
    expect([meter.identicalCalls, meter.stepsWithoutProgress]).toEqual([0, 0]);
    const names = after(...outputs.map((name): Happening => [[JSON.stringify(name), 1]]));
    expect([names.identicalCalls, names.stepsWithoutProgress]).toEqual([0, 0]);
  });

  it('is not lost over a result whose call it has not seen, and takes inputs as deep as they come', () => {
    const meter = new ProgressMeter();
    meter.ingest(
      eventAt(1, { type: 'agent.tool_result', data: { callId: 'before', name: 'a', outcome: 'unknown', output: 'x' } }),
    );
    let deep: unknown = 1;
    for (let depth = 0; depth < 3_000; depth += 1) deep = [deep];
    meter.ingest(eventAt(2, { type: 'agent.tool_use', data: { callId: 'deep', name: 'a', input: deep, spanId: 's' } }));
    meter.ingest(
      eventAt(3, {
        type: 'agent.tool_result',
        data: { callId: 'deep', name: 'a', outcome: 'completed', output: deep },
      }),
    );
    expect([meter.identicalCalls, meter.stepsWithoutProgress]).toEqual([0, 0]);
  });
});
