/** What a result is in the log: JSON, no longer than a model reads, and the rest of it in a file. */
import { createEmptyActor } from 'xstate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { KeptOutput, OutputStore } from '../../../src/actors/turn/output-store.ts';
import { ToolExecutor, storable } from '../../../src/actors/turn/tool-executor.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import { MAX_TOOL_RESULT_CHARACTERS } from '../../../src/machines/session/limits.ts';
import type { ToolCallResult } from '../../../src/machines/turn/tool-call-machine.ts';
import { IDENTITY } from '../../support/session-events.ts';
import { until } from '../../support/session-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

const LONG = 'a line of text\n'.repeat(MAX_TOOL_RESULT_CHARACTERS);

function keeper(): OutputStore & { readonly kept: KeptOutput[] } {
  const kept: KeptOutput[] = [];
  return {
    kept,
    keep: async (output) => {
      kept.push(output);
      return `outputs/${output.callId}.txt`;
    },
  };
}

const store = (output: unknown, outputs?: OutputStore): Promise<ToolCallResult> =>
  storable(output, { outputs, session: IDENTITY, callId: 'call_1' });

describe('an output that JSON would lose', () => {
  const given = new Error('no such build');
  it.each<[unknown, string]>([
    [{ n: 1n }, 'result.n: expected a JSON value, received a bigint'],
    [{ list: [{ ok: true }, { run: () => 1 }] }, 'result.list[1].run: expected a JSON value, received a function'],
    [() => 1, 'result: expected a JSON value, received a function'],
    [Symbol('a'), 'result: expected a JSON value, received a symbol'],
    [given, 'result: expected a JSON value, received the error "no such build"'],
    [{ a: { b: 1 }, c: given }, 'result.c: expected a JSON value, received the error "no such build"'],
    [new Map([['a', 1]]), 'result: expected a JSON value, received an object of the kind Map'],
    [{ all: new Set([1]) }, 'result.all: expected a JSON value, received an object of the kind Set'],
    [[1].values(), 'result: expected a JSON value, received an object of the kind Array Iterator'],
    [(async function* () {})(), 'result: expected a JSON value, received an object of the kind AsyncGenerator'],
    [[Promise.resolve(1)], 'result[0]: expected a JSON value, received an object of the kind Promise'],
  ])('is a failure that says where: %s', async (output, where) => {
    expect(await store(output)).toEqual({
      outcome: 'failed',
      output: `The call has run, and its result could not be stored. ${where}.`,
    });
  });

  it('is none when it says itself what it is as JSON, or is nothing', async () => {
    const at = new Date(0);
    const own = Object.assign(new Error('x'), { toJSON: () => 'told' });
    expect(await store({ at, own, none: undefined, list: [at, undefined] })).toMatchObject({
      outcome: 'completed',
      output: { at: at.toISOString(), own: 'told', list: [at.toISOString(), null] },
    });
    expect(await store(undefined)).toEqual({ outcome: 'completed', output: null });
  });
});

describe('an output that is too long', () => {
  it('is kept as a whole, and the result says where', async () => {
    const outputs = keeper();
    const result = await store(LONG, outputs);
    expect(outputs.kept).toEqual([{ session: IDENTITY, callId: 'call_1', text: LONG }]);
    expect(result.kept).toEqual({ path: 'outputs/call_1.txt', characters: LONG.length });
    expect(String(result.output)).toContain('outputs/call_1.txt');
    expect(String(result.output).length).toBeLessThanOrEqual(MAX_TOOL_RESULT_CHARACTERS);
  });

  it('beside other facts is cut, and the facts stay', async () => {
    const outputs = keeper();
    const result = await store({ exitCode: 3, output: LONG, files: ['a', 'b'] }, outputs);
    expect(result.output).toMatchObject({
      exitCode: 3,
      files: ['a', 'b'],
      output: expect.stringContaining('characters left out'),
    });
    expect(outputs.kept[0]?.text).toBe(LONG);
    expect(JSON.stringify(result.output).length).toBeLessThanOrEqual(MAX_TOOL_RESULT_CHARACTERS * 2);
  });

  it('whose other facts are too long themselves is cut as a whole', async () => {
    const outputs = keeper();
    const whole = { output: LONG, beside: LONG };
    const result = await store(whole, outputs);
    expect(typeof result.output).toBe('string');
    expect(String(result.output).length).toBeLessThanOrEqual(MAX_TOOL_RESULT_CHARACTERS);
    expect(JSON.parse(outputs.kept[0]?.text ?? '')).toEqual(whole);
  });

  it.each<[string, OutputStore | undefined]>([
    ['nobody keeps outputs', undefined],
    ['it cannot be kept', { keep: () => Promise.reject(new Error('the disk is full')) }],
  ])('is a result all the same when %s; the rest of it is said to be left out', async (_why, outputs) => {
    const result = await store(LONG, outputs);
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(result).not.toHaveProperty('kept');
    expect(String(result.output)).toMatch(/characters left out here …/);
  });

  it('is not kept when it is just short enough', async () => {
    const outputs = keeper();
    const text = 'x'.repeat(MAX_TOOL_RESULT_CHARACTERS - 2);
    expect(await store(text, outputs)).toEqual({ outcome: 'completed', output: text });
    expect(outputs.kept).toEqual([]);
  });

  it('whatever it is, gives JSON of a bounded length that reads back the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.anything({ withDate: true, withNullPrototype: true, withMap: true, withSparseArray: true }),
        fc.boolean(),
        async (value, isLong) => {
          const result = await store(isLong ? { value, output: LONG } : value, keeper()).catch(() => undefined);
          // What JSON cannot hold is the tool's failure.
          if (result === undefined) return;
          expect(JSON.parse(JSON.stringify(result.output))).toEqual(result.output);
          expect(JSON.stringify(result.output).length).toBeLessThanOrEqual(MAX_TOOL_RESULT_CHARACTERS * 6 + 2);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('the calls of a step', () => {
  it.each(['cancel', 'finish'] as const)(
    'that are too many at once for one signal make Node.js complain about nothing (%s)',
    async (interruptBehavior) => {
      const warnings: Error[] = [];
      const note = (warning: Error): void => void warnings.push(warning);
      process.on('warning', note);
      const { tool, ran } = noteTools();
      const listening: Tool = tool('listening', {
        interruptBehavior,
        run: (_input, { signal }) =>
          new Promise((resolve) => {
            for (let count = 0; count < 4; count += 1)
              signal.addEventListener('abort', () => resolve('stopped'), { once: true });
          }),
      });
      const [abort, force] = [new AbortController(), new AbortController()];
      const results: ToolCallResult[] = [];
      const step = new ToolExecutor({ clock: createSimulatedClock() }).runStep({
        calls: Array.from({ length: 12 }, (_, index) => ({ callId: `c${index}`, name: 'listening', input: {} })),
        tools: new Map([['listening', listening]]),
        context: { session: IDENTITY, workspaceDirectory: '/workspace', signal: abort.signal },
        force: force.signal,
        parent: createEmptyActor(),
        onStart: async () => undefined,
        onResult: async (_call, result) => void results.push(result),
      });
      await until(() => ran.length === 4);
      abort.abort('enough');
      force.abort('at once');
      await step;
      await new Promise((resolve) => setImmediate(resolve));
      process.off('warning', note);
      expect(results.map(({ outcome }) => outcome)).toEqual(
        Array.from({ length: 12 }, () => expect.stringMatching(/cancelled|completed/)),
      );
      expect(warnings).toEqual([]);
    },
  );
});
