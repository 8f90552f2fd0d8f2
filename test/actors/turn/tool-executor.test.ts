import { createActor, createEmptyActor, fromCallback } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { StartAnswer } from '../../../src/actors/turn/tool-executor.ts';
import { ToolExecutor } from '../../../src/actors/turn/tool-executor.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { MAX_CONCURRENT_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS } from '../../../src/machines/session/limits.ts';
import type { ToolCallInput, ToolCallResult } from '../../../src/machines/turn/tool-call-machine.ts';
import { IDENTITY } from '../../support/session-events.ts';
import { until } from '../../support/session-setup.ts';
import { unhandledDuring } from '../../support/unhandled.ts';

const tool = (name: string, run: NonNullable<Tool['run']>, changes: Partial<Tool['definition']> = {}): Tool => ({
  definition: {
    name,
    description: name,
    inputSchema: z.looseObject({}),
    ownership: 'managed',
    permissionPolicy: 'always_allow',
    readOnly: true,
    destructive: false,
    interruptBehavior: 'cancel',
    ...changes,
  },
  run,
});
const call = (name: string, callId = name, input: unknown = {}): ToolCallInput => ({ callId, name, input });

interface Step {
  readonly results: Map<string, ToolCallResult>;
  readonly done: Promise<void>;
  readonly controller: AbortController;
  readonly clock: SimulatedClock;
}

function runStep(
  tools: readonly Tool[],
  calls: readonly ToolCallInput[],
  onResult: (callId: string) => Promise<void> = async () => undefined,
  onStart: (call: ToolCallInput) => Promise<StartAnswer> = async () => undefined,
  parent: AnyActorRef = createEmptyActor(),
): Step {
  const results = new Map<string, ToolCallResult>();
  const controller = new AbortController();
  const clock = createSimulatedClock();
  const done = new ToolExecutor({ clock }).runStep({
    calls,
    tools: new Map(tools.map((each) => [each.definition.name, each])),
    context: { session: IDENTITY, workspaceDirectory: '/workspace', signal: controller.signal },
    parent,
    onStart,
    async onResult({ callId }, result) {
      await onResult(callId);
      results.set(callId, result);
    },
  });
  return { results, done, controller, clock };
}

async function resultOf(candidate: Tool, input: unknown = {}): Promise<ToolCallResult | undefined> {
  const { results, done } = runStep([candidate], [call(candidate.definition.name, 'c', input)]);
  await done;
  return results.get('c');
}

describe('a tool call', () => {
  it('that is held does not begin in its chart either: it has no result, and has not ended', async () => {
    const states: unknown[] = [];
    const parent = createActor(
      fromCallback(() => undefined),
      {
        inspect(event) {
          if (event.type !== '@xstate.snapshot' || (event.actorRef as AnyActorRef).id !== 'c') return;
          states.push([(event.snapshot as { readonly value?: unknown }).value, event.snapshot.status]);
        },
      },
    );
    const { results, done } = runStep(
      [tool('t', async () => 1)],
      [call('t', 'c')],
      undefined,
      async () => 'held',
      parent,
    );
    await done;
    expect([results.size, ...states.slice(0, 1), states.at(-1)]).toEqual([
      0,
      ['requested', 'active'],
      ['requested', 'stopped'],
    ]);
  });

  it.each<[string, unknown, unknown]>([
    ['a text', 'hello', 'hello'],
    ['an object, as JSON keeps it', { a: 1, b: undefined, at: new Date(0) }, { a: 1, at: '1970-01-01T00:00:00.000Z' }],
    ['nothing', undefined, null],
  ])('completes with %s', async (_what, output, expected) => {
    expect(await resultOf(tool('t', async () => output))).toEqual({ outcome: 'completed', output: expected });
  });

  it('is cut when its result is too long, and says by how much', async () => {
    const result = await resultOf(tool('t', async () => 'x'.repeat(MAX_TOOL_RESULT_CHARACTERS + 10)));
    expect(result?.output).toMatch(/characters/);
    expect(String(result?.output).length).toBeLessThanOrEqual(MAX_TOOL_RESULT_CHARACTERS);
  });

  it('gets its validated input and where it runs', async () => {
    let seen: unknown[] = [];
    const schema = z.object({ n: z.number().default(7) });
    await resultOf(
      tool(
        't',
        async (input, { callId, workspaceDirectory, session }) => {
          seen = [input, callId, workspaceDirectory, session];
        },
        { inputSchema: schema },
      ),
      { extra: true },
    );
    expect(seen).toEqual([{ n: 7 }, 'c', '/workspace', IDENTITY]);
  });

  it.each<[string, Tool, unknown, RegExp]>([
    [
      'its input is wrong',
      tool('t', async () => 'x', { inputSchema: z.object({ n: z.number() }) }),
      { n: 'many' },
      /^The input of t is not valid: n: expected number, received string\.$/,
    ],
    [
      'it throws',
      tool('t', () => {
        throw new Error('boom');
      }),
      {},
      /^boom$/,
    ],
    [
      'it rejects',
      tool('t', () =>
        Promise.reject(new RuntimeError('X', 'no such file.', { category: 'validation', hint: 'Make it first.' })),
      ),
      {},
      /^no such file\. Make it first\.$/,
    ],
    ['its result is no JSON', tool('t', async () => 10n), {}, /result: expected a JSON value, received a bigint/],
  ])('fails, and tells the model, when %s', async (_why, candidate, input, pattern) => {
    const result = await resultOf(candidate, input);
    expect(result?.outcome).toBe('failed');
    expect(result?.output).toMatch(pattern);
  });

  it('to a tool that is not there fails with the names of those that are', async () => {
    const { results, done } = runStep([tool('one', async () => 1), tool('two', async () => 2)], [call('three')]);
    await done;
    expect(results.get('three')).toEqual({
      outcome: 'failed',
      output: 'There is no tool "three". Available: one, two.',
    });
  });
});

describe('a tool call takes effect', () => {
  it('after it was said that it starts, and not when it never can', async () => {
    const order: string[] = [];
    const tools = [
      tool('t', async () => {
        order.push('ran');
      }),
      tool(
        'strict',
        async () => {
          order.push('ran');
        },
        { inputSchema: z.object({ n: z.number() }) },
      ),
    ];
    const { done } = runStep(
      tools,
      [call('t'), call('strict'), call('none')],
      async (callId) => void order.push(`result ${callId}`),
      async ({ callId }) => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`start ${callId}`);
      },
    );
    await done;
    expect(order.filter((entry) => entry.startsWith('start'))).toEqual(['start t']);
    expect(order.indexOf('start t')).toBeLessThan(order.indexOf('ran'));
  });

  it('not at all when that cannot be stored, and the step fails with the reason', async () => {
    let ran = 0;
    const { done, results } = runStep(
      [
        tool('t', async () => {
          ran += 1;
        }),
      ],
      [call('t', 'a'), call('t', 'b')],
      undefined,
      () => Promise.reject(new Error('disk full')),
    );
    await expect(done).rejects.toThrow('disk full');
    expect([ran, results.size]).toEqual([0, 0]);
  });

  it('not when the wake was stopped while that was stored', async () => {
    let ran = 0;
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    const { done, results, controller } = runStep(
      [
        tool('t', async () => {
          ran += 1;
        }),
      ],
      [call('t')],
      undefined,
      async () => {
        await stored;
        return undefined;
      },
    );
    controller.abort('enough');
    store();
    await done;
    expect(ran).toBe(0);
    expect(results.get('t')).toMatchObject({ outcome: 'cancelled' });
  });
});

describe('the tool calls of one step', () => {
  it('run at the same time, but only so many', async () => {
    let runningNow = 0;
    let most = 0;
    const slow = tool('slow', async () => {
      runningNow += 1;
      most = Math.max(most, runningNow);
      await new Promise((resolve) => setImmediate(resolve));
      runningNow -= 1;
    });
    const { results, done } = runStep(
      [slow],
      Array.from({ length: 20 }, (_, index) => call('slow', `c${index}`)),
    );
    await done;
    expect([results.size, most]).toEqual([20, MAX_CONCURRENT_TOOL_CALLS]);
  });

  it('are all cancelled by a stop: those that run when they have stopped, the others at once', async () => {
    let stopped = 0;
    let started = 0;
    const obedient = tool('obedient', async (_input, { signal }) => {
      started += 1;
      await until(() => signal.aborted);
      stopped += 1;
      throw new Error('stopped');
    });
    const { results, done, controller } = runStep(
      [obedient],
      Array.from({ length: 6 }, (_, index) => call('obedient', `c${index}`)),
    );
    await until(() => started === MAX_CONCURRENT_TOOL_CALLS);
    controller.abort('enough');
    await done;
    expect([started, stopped]).toEqual([MAX_CONCURRENT_TOOL_CALLS, MAX_CONCURRENT_TOOL_CALLS]);
    expect([...results.values()].map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'cancelled'));
  });

  it('that completed in spite of a stop have completed', async () => {
    let isRunning = false;
    const stubborn = tool('stubborn', async (_input, { signal }) => {
      isRunning = true;
      await until(() => signal.aborted);
      return 'done anyway';
    });
    const { results, done, controller } = runStep([stubborn], [call('stubborn')]);
    await until(() => isRunning);
    controller.abort('enough');
    await done;
    expect(results.get('stubborn')?.outcome).toBe('completed');
  });

  it.each<[string, number | undefined, number]>([
    ['5 seconds after a stop', undefined, 5_000],
    ['later when the tool asks for it', 60_000, 60_000],
  ])(
    "to a tool that is deaf to its signal end as cancelled, %s, and what it does then is nobody's business",
    async (_when, stopGraceMs, graceMs) => {
      let wakeUp: (error: Error) => void = () => undefined;
      const deaf: Tool = {
        ...tool(
          'deaf',
          () =>
            new Promise((_resolve, reject) => {
              wakeUp = reject;
            }),
        ),
        stopGraceMs,
      };
      const unhandled = await unhandledDuring(async () => {
        const { results, done, controller, clock } = runStep(
          [deaf, tool('quick', async () => 'ok')],
          [call('deaf'), call('quick')],
        );
        await until(() => results.has('quick'));
        controller.abort('enough');
        expect(clock.pendingTimers).toBe(1);
        await clock.advance(graceMs - 1);
        expect(results.has('deaf')).toBe(false);
        await clock.advance(1);
        await done;
        expect(results.get('deaf')).toEqual({
          outcome: 'cancelled',
          output: 'The call was stopped: enough. The tool did not stop in time and may still be at work.',
        });
        expect(clock.pendingTimers).toBe(0);
        wakeUp(new Error('too late'));
      });
      expect(unhandled).toEqual([]);
    },
  );

  it('end when one result cannot be stored: no more of them start, and those that run are stopped', async () => {
    let started = 0;
    let stopped = 0;
    const first = tool('first', async () => {
      await until(() => started === MAX_CONCURRENT_TOOL_CALLS - 1);
    });
    const endless = tool('endless', async (_input, { signal }) => {
      started += 1;
      await until(() => signal.aborted);
      stopped += 1;
    });
    const calls = [call('first'), ...Array.from({ length: 30 }, (_, index) => call('endless', `c${index}`))];
    const { done } = runStep([first, endless], calls, () => Promise.reject(new Error('disk full')));
    await expect(done).rejects.toThrow('disk full');
    expect([started, stopped]).toEqual([MAX_CONCURRENT_TOOL_CALLS - 1, MAX_CONCURRENT_TOOL_CALLS - 1]);
  });
});
