import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { createScriptAgentRuntime } from '../../../src/adapters/script/script-agent-runtime.ts';
import { parseScript } from '../../../src/adapters/script/script-schema.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let clock: SimulatedClock;
let runtime: AgentRuntime;
let events: AgentRunEvent[];

beforeEach(async () => {
  home = await temporaryHome();
  clock = createSimulatedClock();
  runtime = createScriptAgentRuntime({ clock });
  events = [];
});
afterEach(() => home.remove());

const write = (script: unknown): Promise<void> =>
  writeFile(
    join(home.path, 'play.json'),
    typeof script === 'string' ? script : JSON.stringify({ format: 'wakechart-script/1', ...(script as object) }),
  );
const run = (modelStepsTaken = 0, rest: Partial<AgentRunParams> = {}): Promise<AgentRunResult> =>
  runtime.run({
    runId: 'run_1',
    sessionId: 'session_1',
    provider: 'script',
    model: 'play.json',
    config: {},
    workspaceDir: home.path,
    agentDir: home.path,
    modelStepsTaken,
    messages: [],
    onEvent: (event) => events.push(event),
    ...rest,
  } as AgentRunParams);
const shape = (): unknown[] =>
  events.map(({ stream, data }) => ('phase' in data ? `${stream}:${data.phase}` : `${stream}:${data.kind}`));

const toolResult = (output: unknown, outcome: 'completed' | 'failed' = 'completed'): readonly ProviderMessage[] => [
  { role: 'user', content: [{ type: 'text', text: 'please check' }] },
  { role: 'assistant', content: [{ type: 'tool_call', callId: 'c', name: 'shell_run', input: {} }] },
  { role: 'tool', content: [{ type: 'tool_result', callId: 'c', name: 'shell_run', outcome, output }] },
];

describe('a script', () => {
  it('says what its step at the position says, and streams it', async () => {
    await write({
      steps: [
        { text: 'first' },
        {
          text: 'second',
          reasoning: 'hm',
          toolCalls: [{ name: 'shell_run', input: { command: 'ls' } }, { name: 'other' }],
          directive: { outcome: 'sleep' },
          usage: { inputTokens: 5 },
        },
      ],
    });
    expect(await run(1)).toEqual({
      payloads: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'second' },
        { type: 'tool_call', callId: 'script_2_1', name: 'shell_run', input: { command: 'ls' } },
        { type: 'tool_call', callId: 'script_2_2', name: 'other', input: {} },
        { type: 'directive', directive: { outcome: 'sleep' } },
      ],
      usage: { inputTokens: 5 },
      meta: { modelSteps: 1 },
    });
    expect(shape()).toEqual([
      'lifecycle:start',
      'assistant:reasoning',
      'assistant:text',
      'tool:requested',
      'tool:requested',
      'lifecycle:end',
    ]);
    expect(events.map(({ seq, runId }) => [seq, runId])).toEqual(events.map((_, index) => [index + 1, 'run_1']));
    expect(events[0]?.ts).toBe('2026-01-01T00:00:00.000Z');
  });

  it.each<[string, object, object]>([
    [
      'sleeps when it is over',
      {},
      {
        payloads: [{ type: 'directive', directive: { outcome: 'sleep', summary: 'The script has no more steps.' } }],
        meta: { modelSteps: 0 },
      },
    ],
    [
      'says its last step again when it is to repeat',
      { onEnd: 'repeat-last' },
      { payloads: [{ type: 'text', text: 'only' }], meta: { modelSteps: 1 } },
    ],
    [
      'fails when it is to fail',
      { onEnd: 'error' },
      {
        payloads: [],
        meta: {
          error: { kind: 'empty_response', message: 'script play.json has 1 steps and was asked for step 6' },
          modelSteps: 0,
        },
      },
    ],
  ])('%s', async (_name, rest, expected) => {
    await write({ steps: [{ text: 'only' }], ...rest });
    expect(await run(5)).toEqual(expected);
  });

  it('says the same again, whatever became of what it said before', async () => {
    await write({
      steps: [
        {
          toolCalls: [{ name: 't', input: { deep: ['x'] } }],
          directive: { outcome: 'sleep' },
          usage: { inputTokens: 1 },
        },
      ],
    });
    // A file that rests is kept between the runs.
    await utimes(join(home.path, 'play.json'), new Date(0), new Date(0));
    const first = await run();
    const said = structuredClone(first);
    for (const payload of first.payloads) {
      if (payload.type === 'tool_call') Object.assign(payload.input as object, { deep: 'changed' });
      if (payload.type === 'directive') Object.assign(payload.directive as object, { outcome: 'changed' });
    }
    Object.assign(first.usage ?? {}, { inputTokens: 2 });
    expect(await run()).toEqual(said);
  });

  it('without steps has nothing to repeat', async () => {
    await write({ steps: [], onEnd: 'repeat-last' });
    expect((await run()).meta).toMatchObject({ error: { kind: 'empty_response' } });
  });

  it('fails as it is written, and has moved on', async () => {
    await write({
      steps: [{ error: { kind: 'rate_limit', message: 'slow down', retryAfterMs: 500 } }, { text: 'better' }],
    });
    expect(await run()).toEqual({
      payloads: [],
      meta: { error: { kind: 'rate_limit', message: 'slow down', retryAfterMs: 500 }, modelSteps: 1 },
    });
    expect(shape()).toEqual(['lifecycle:start', 'lifecycle:error']);
  });

  it('waits as long as a step says, and no real time', async () => {
    await write({ steps: [{ text: 'late', delayMs: 60_000 }] });
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(59_999);
    expect([isOver, runtime.isRunActive('run_1')]).toEqual([false, true]);
    await clock.advance(1);
    expect((await running).payloads).toHaveLength(1);
    expect(runtime.isRunActive('run_1')).toBe(false);
  });

  it.each<[string, (controller: AbortController) => void]>([
    ['its signal', (controller) => controller.abort('enough')],
    ['its abort', () => void runtime.abort('run_1')],
  ])('stops waiting at %s, and has not moved on', async (_how, stop) => {
    await write({ steps: [{ text: 'late', delayMs: 60_000 }] });
    const controller = new AbortController();
    const running = run(0, { abortSignal: controller.signal });
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    stop(controller);
    expect(await running).toMatchObject({ payloads: [], meta: { error: { kind: 'aborted' }, modelSteps: 0 } });
    expect(shape()).toEqual(['lifecycle:start', 'lifecycle:aborted']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('says nothing when it was aborted before it began', async () => {
    await write({ steps: [{ text: 'x' }] });
    expect((await run(0, { abortSignal: AbortSignal.abort('enough') })).meta?.error).toEqual({
      kind: 'aborted',
      message: 'enough',
    });
  });

  it('leaves a run alone that is not active', async () => {
    await expect(runtime.abort('other')).resolves.toBeUndefined();
    expect(runtime.isRunActive('other')).toBe(false);
  });
});

describe('what a script expects', () => {
  it.each<[string, object, unknown]>([
    ['text in a text result', { lastToolResultIncludes: 'say "hi"' }, 'they say "hi" twice'],
    [
      'text in a part of a result, as it reads',
      { lastToolResultIncludes: 'a "quoted"\nline' },
      { output: 'a "quoted"\nline', exitCode: 0 },
    ],
    [
      'a value beside its name',
      { lastToolResultIncludes: ['exitCode: 0', 'signalCode: null'] },
      { output: '', exitCode: 0, signalCode: null },
    ],
    ['no such text', { lastToolResultExcludes: 'error' }, 'all well'],
    ['an outcome', { lastToolResultOutcome: 'completed' }, 'x'],
    ['a message', { lastUserMessageIncludes: 'check' }, 'x'],
  ])('is met by %s', async (_name, expectation, output) => {
    await write({ steps: [{ text: 'as expected', expect: expectation }] });
    expect((await run(0, { messages: toolResult(output) })).meta).toEqual({ modelSteps: 1 });
  });

  it.each<[string, object, readonly ProviderMessage[], RegExp]>([
    [
      'another text',
      { lastToolResultIncludes: 'README' },
      toolResult({ output: 'CHANGES' }),
      /script play\.json, step 1: expected the last tool result to include "README", received: "output: CHANGES"/,
    ],
    ['no result', { lastToolResultIncludes: 'x' }, [], /no tool has been called/],
    ['an empty result', { lastToolResultIncludes: 'x' }, toolResult(''), /received: nothing/],
    [
      'a text that should not be there',
      { lastToolResultExcludes: 'bad' },
      toolResult('very bad'),
      /not to include "bad"/,
    ],
    [
      'another outcome',
      { lastToolResultOutcome: 'completed' },
      toolResult('no such tool', 'failed'),
      /to be completed, received failed: "no such tool"/,
    ],
    [
      'another message',
      { lastUserMessageIncludes: 'stop' },
      toolResult('x'),
      /to include "stop", received: "please check"/,
    ],
  ])(
    'is not met by %s, which the error shows, and the step is tried again',
    async (_name, expectation, messages, pattern) => {
      await write({ steps: [{ text: 'x', expect: expectation }] });
      const { payloads, meta } = await run(0, { messages });
      expect(payloads).toEqual([]);
      expect(meta).toMatchObject({ error: { kind: 'format' }, modelSteps: 0 });
      expect(meta?.error?.message).toMatch(pattern);
    },
  );

  it('is shown a prompt as the last message', async () => {
    await write({ steps: [{ text: 'x', expect: { lastUserMessageIncludes: 'hello' } }] });
    expect((await run(0, { messages: undefined, prompt: 'hello you' })).meta).toEqual({ modelSteps: 1 });
  });
});

describe('a script that cannot be played', () => {
  it('says that the file is missing', async () => {
    expect((await run()).meta).toMatchObject({
      error: { kind: 'model_not_found', message: expect.stringContaining('could not read script play.json') as string },
      modelSteps: 0,
    });
    expect(shape()).toEqual(['lifecycle:start', 'lifecycle:error']);
  });

  it.each<[string, unknown, RegExp]>([
    ['is not JSON', '{ "format": ', /script play\.json is not JSON/],
    ['is of another format', { format: 'wakechart-script/9', steps: [] }, /format: expected "wakechart-script\/1"/],
    [
      'has a step with a key nobody knows',
      { steps: [{ text: 'a' }, { txt: 'b' }] },
      /steps\[1\]: Unrecognized key: "txt"/,
    ],
    [
      'has a tool call without a name',
      { steps: [{ toolCalls: [{ input: {} }] }] },
      /steps\[0\]\.toolCalls\[0\]\.name: expected string, received undefined/,
    ],
    [
      'has a failure of an unknown kind',
      { steps: [{ error: { kind: 'tired', message: 'x' } }] },
      /steps\[0\]\.error\.kind: /,
    ],
    [
      'has a step that fails and asks for a tool',
      { steps: [{ toolCalls: [{ name: 'x' }], error: { kind: 'timeout', message: 'x' } }] },
      /steps\[0\]: a step that fails with an error can ask for nothing/,
    ],
    ['waits longer than a day', { steps: [{ delayMs: 86_400_001 }] }, /steps\[0\]\.delayMs/],
    [
      'expects nothing in particular',
      { steps: [{ expect: {} }] },
      /steps\[0\]\.expect: expected at least one expectation/,
    ],
    ['has no steps at all', {}, /steps: expected array, received undefined/],
  ])('because it %s says so, with the file and the place', async (_why, script, pattern) => {
    await write(script);
    const { meta } = await run();
    expect(meta).toMatchObject({ error: { kind: 'format' }, modelSteps: 0 });
    expect(meta?.error?.message).toMatch(pattern);
  });

  it('may begin with a byte order mark', () => {
    expect(parseScript('\uFEFF{"format":"wakechart-script/1","steps":[]}', 'x').steps).toEqual([]);
  });
});
