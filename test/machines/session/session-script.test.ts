import { describe, expect, it } from 'vitest';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import {
  MAX_SCRIPT_CHARACTERS,
  MAX_SCRIPT_STEPS,
  ScriptRecorder,
  scriptText,
} from '../../../src/machines/session/session-script.ts';
import type { RecordedScript } from '../../../src/machines/session/session-script.ts';
import { parseScript } from '../../../src/adapters/script/script-schema.ts';
import { logOf, spanStarted } from '../../support/session-events.ts';

function recorded(...drafts: readonly SessionEventDraft[]): RecordedScript {
  const recorder = new ScriptRecorder();
  for (const event of logOf(...drafts)) recorder.ingest(event);
  return recorder.get();
}

type Ended = Extract<SessionEventDraft, { type: 'span.completed' }>['data'];

const ended = (rest: Partial<Ended> = {}): SessionEventDraft => ({
  type: 'span.completed',
  data: { spanId: 's', kind: 'model_step', outcome: 'completed', modelSteps: 1, ...rest },
});
const said = (text: string, partial?: true): SessionEventDraft => ({
  type: 'agent.message',
  data: { text, spanId: 's', ...(partial === undefined ? {} : { partial }) },
});
const used = (name: string, by?: 'backend'): SessionEventDraft => ({
  type: 'agent.tool_use',
  data: { callId: `c_${name}`, name, input: { of: name }, spanId: 's', ...(by === undefined ? {} : { by }) },
});
const step = (...drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[] => [spanStarted('s'), ...drafts];
const timeout = { kind: 'timeout', message: 'too slow' } as const;

describe('a recorded step', () => {
  it('holds what was said, thought, asked for and used, and how it ended', () => {
    const thought: SessionEventDraft = { type: 'agent.thinking', data: { text: 'hm', spanId: 's' } };
    const directed: SessionEventDraft = {
      type: 'directive.accepted',
      data: { directive: { outcome: 'sleep', summary: 'done', queuedWakes: [], learnings: [] }, spanId: 's' },
    };
    expect(
      recorded(
        ...step(
          thought,
          said('check'),
          used('one'),
          used('two'),
          directed,
          ended({ usage: { inputTokens: 3, cost: 0.1 } }),
        ),
      ),
    ).toEqual({
      format: 'wakechart-script/1',
      steps: [
        {
          reasoning: 'hm',
          text: 'check',
          toolCalls: [
            { name: 'one', input: { of: 'one' } },
            { name: 'two', input: { of: 'two' } },
          ],
          directive: { outcome: 'sleep', summary: 'done', queuedWakes: [], learnings: [] },
          usage: { inputTokens: 3, cost: 0.1 },
        },
      ],
      onEnd: 'sleep',
    });
  });

  it('that failed is one that fails, when it counted', () => {
    expect(recorded(...step(ended({ outcome: 'failed', error: { ...timeout, retryAfterMs: 5 } })))).toMatchObject({
      steps: [{ error: { kind: 'timeout', message: 'too slow', retryAfterMs: 5 } }],
    });
    expect(recorded(...step(ended({ outcome: 'failed' }))).steps).toEqual([
      { error: { kind: 'unknown', message: 'The step failed.' } },
    ]);
  });

  it('gives a directive that was refused as data again, and leaves one in the text there', () => {
    const refused = (received: string): SessionEventDraft => ({
      type: 'directive.rejected',
      data: { reason: 'bad', received, spanId: 's' },
    });
    expect(recorded(...step(said('x'), refused('{"outcome":"fly"}'), ended())).steps).toEqual([
      { text: 'x', directive: { outcome: 'fly' } },
    ]);
    const block = 'x\n```wakechart-directive\n{]\n```';
    expect(recorded(...step(said(block), refused('{]'), ended()))).toEqual({
      format: 'wakechart-script/1',
      steps: [{ text: block }],
      onEnd: 'sleep',
    });
  });
});

const compaction: readonly SessionEventDraft[] = [
  { type: 'span.started', data: { spanId: 'c', kind: 'compaction', backend: 'b', provider: 'p', model: 'm', step: 1 } },
  { type: 'context.compacted', data: { throughSeq: 1, summary: 'so far', tokensBefore: 9, tokensAfter: 1 } },
  { type: 'span.completed', data: { spanId: 'c', kind: 'compaction', outcome: 'completed', modelSteps: 1 } },
];
const failedAttempt: SessionEventDraft = {
  type: 'run.attempt_failed',
  data: {
    spanId: 's',
    attempt: 1,
    candidate: { provider: 'p', model: 'm' },
    error: timeout,
    next: 'fall_back',
    because: 'it was slow',
  },
};
const unread = (received: string): SessionEventDraft => ({
  type: 'directive.rejected',
  data: { reason: 'bad', received, spanId: 's' },
});

describe('what a script cannot say is noted:', () => {
  it.each<[string, readonly SessionEventDraft[], RegExp, RecordedScript['steps']]>([
    ['a summary of the conversation', compaction, /^Step 1: A summary/, []],
    [
      'tools that the backend ran',
      step(used('Bash', 'backend'), said('done'), ended()),
      /^Step 1: The backend ran tools/,
      [{ text: 'done' }],
    ],
    [
      'a candidate that failed',
      step(failedAttempt, said('done'), ended()),
      /^Step 1: A candidate failed/,
      [{ text: 'done' }],
    ],
    [
      'a failure that did not count',
      step(ended({ outcome: 'failed', modelSteps: 0, error: timeout })),
      /^Step 1: A step that failed before it counted/,
      [],
    ],
    [
      'a step that was stopped',
      step(ended({ outcome: 'aborted', modelSteps: 0 })),
      /^Step 1: A step that was stopped/,
      [],
    ],
    ['a step that was lost', step(ended({ outcome: 'lost', modelSteps: 0 })), /^Step 1: A step whose process died/, []],
    ['a step that has not ended', step(said('hm')), /^A step that has not ended/, []],
    [
      'a message that was cut short',
      step(
        said('as far as', true),
        ended({ outcome: 'aborted', modelSteps: 0, error: { kind: 'aborted', message: 'x' } }),
      ),
      /^Step 1: This was cut short/,
      [{ text: 'as far as' }],
    ],
    [
      'several messages of one step',
      step(said('one'), said('two'), ended()),
      /^Step 1: Several messages/,
      [{ text: 'one\n\ntwo' }],
    ],
    [
      'several model steps in one',
      step(said('one'), ended({ modelSteps: 4 })),
      /^Step 1: The backend took several/,
      [{ text: 'one' }],
    ],
    [
      'reasoning that only the model can read',
      step(
        {
          type: 'agent.thinking',
          data: { text: 'hm', spanId: 's', opaque: { provider: 'p', model: 'm', data: 'zz' } },
        },
        ended(),
      ),
      /^Step 1: What only the model/,
      [{ reasoning: 'hm' }],
    ],
    [
      'a directive of which the log holds a part',
      step(said('x'), unread('{"outcome": "sle'), ended()),
      /^Step 1: A directive that was refused/,
      [{ text: 'x', directive: '{"outcome": "sle' }],
    ],
    [
      'a directive block that was not read',
      step(said('```wakechart-directive\n{}'), ended()),
      /^Step 1: The text holds a directive block/,
      [{ text: '```wakechart-directive\n{}' }],
    ],
    [
      'a call without a name',
      step(used(''), said('x'), ended()),
      /^Step 1: A call of a tool without a name/,
      [{ text: 'x' }],
    ],
  ])('%s', (_what, drafts, note, steps) => {
    const script = recorded(...drafts);
    expect(script.notes).toEqual([expect.stringMatching(note)]);
    expect(script.steps).toEqual(steps);
    expect(parseScript(scriptText(script), 'x').notes).toEqual(script.notes);
  });

  it('an event that this version does not know', () => {
    const recorder = new ScriptRecorder();
    const [event] = logOf(said('x'));
    if (event !== undefined)
      recorder.ingest({ ...event, type: 'event.unrecognized', data: { type: 'of.tomorrow', v: 1, data: {} } });
    expect(recorder.get().notes).toEqual([expect.stringMatching(/^Step 1: An event/)]);
  });

  it('in one sentence for each reason, however often it was there', () => {
    const many = Array.from({ length: 50 }, () => step(said('one'), said('two'), ended())).flat();
    const { notes = [] } = recorded(...many);
    expect(notes).toEqual([
      'Step 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 30 more: Several messages of this step are one in the script.',
    ]);
  });

  it('what comes after as much as a script can hold, and nothing is said in its place', () => {
    const recorder = new ScriptRecorder();
    const text = 'x'.repeat(MAX_SCRIPT_CHARACTERS / 100);
    for (let index = 0; index < 101; index += 1)
      for (const event of logOf(...step(said(text), ended()))) recorder.ingest(event);
    for (const event of logOf(...step(said('short'), ended()))) recorder.ingest(event);
    const script = recorder.get();
    expect([script.steps.length, script.steps.at(-1)?.text === text]).toEqual([99, true]);
    expect(script.notes).toEqual(['Step 100: This and what comes after it is left out: a script cannot be longer.']);
    expect(scriptText(script).length).toBeLessThan(MAX_SCRIPT_CHARACTERS);
    expect(MAX_SCRIPT_STEPS).toBeGreaterThanOrEqual(10_000);
  });
});

it('a script keeps inputs of calls as they were, however they are named and however deep they are', () => {
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 500; depth += 1) deep = [deep];
  const input = JSON.parse(`{"__proto__": {"x": 1}, "constructor": 2, "deep": ${JSON.stringify(deep)}}`) as unknown;
  const script = recorded(
    ...step({ type: 'agent.tool_use', data: { callId: 'c', name: 't', input, spanId: 's' } }, ended()),
  );
  const [played] = parseScript(scriptText(script), 'x').steps;
  expect(JSON.stringify(played?.toolCalls?.[0]?.input)).toBe(JSON.stringify(input));
});

it('a recorder tells the script so far, and goes on', () => {
  const recorder = new ScriptRecorder();
  const [start, end] = logOf(spanStarted('s'), ended());
  if (start !== undefined) recorder.ingest(start);
  expect(recorder.get()).toMatchObject({ steps: [], notes: [expect.stringMatching(/has not ended/)] });
  if (end !== undefined) recorder.ingest(end);
  expect(recorder.get()).toEqual({ format: 'wakechart-script/1', steps: [{}], onEnd: 'sleep' });
});
