/** Models that say anything at all: a session never breaks over it, and the next wake works. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentRunResult, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import {
  MAX_RECORD_BYTES,
  MAX_TOOL_CALLS_PER_STEP,
  MAX_TOOL_RESULT_CHARACTERS,
} from '../../../src/machines/session/limits.ts';
import type { PendingAction } from '../../../src/machines/session/session-state.ts';
import { expectSettled } from '../../support/settled-session.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
afterEach(() => setup[Symbol.asyncDispose]());

/** What the backend resolves with, step by step, for each session; then it says that it is fine. */
const scripts = new Map<string, unknown[]>();

const anything: AgentRuntime = {
  id: 'model',
  run: async ({ sessionId }) =>
    (scripts.get(sessionId)?.shift() ?? { payloads: [{ type: 'text', text: 'fine' }] }) as AgentRunResult,
  abort: async () => undefined,
  isRunActive: () => false,
};

async function open(): Promise<void> {
  const { tool } = noteTools();
  const boom = (): never => {
    throw new Error('boom');
  };
  setup = await openTurnSetup({
    runtimes: [anything],
    tools: [
      tool('check'),
      tool('launch', { permissionPolicy: 'always_ask' }),
      tool('strict', { inputSchema: z.strictObject({ n: z.number() }) }),
      tool('broken', { run: async () => boom() }),
      tool('unjudged', { subject: boom }),
      tool('unasked', { question: boom }),
      tool('silent', { question: () => ({ question: '' }) }),
      tool('lost', { subflow: boom }),
      tool('unread', { inputSchema: z.looseObject({}).refine(boom) }),
      tool('loud', { run: async () => '\u0000"\ud800💥'.repeat(MAX_TOOL_RESULT_CHARACTERS) }),
      tool('wide', { run: async () => ({ output: 'x'.repeat(3_000_000), beside: 'y'.repeat(2_900_000) }) }),
      tool('odd', {
        run: async () => ({ a: undefined, b: new Date(0), c: [undefined, () => 1], toJSON: () => ({ __proto__: 1 }) }),
      }),
      tool('looped', {
        run: async () => {
          const loop: { self?: unknown } = {};
          loop.self = loop;
          return loop;
        },
      }),
    ],
  });
  await setup.agent('helper', []);
  await setup.agent('worker', [], {
    tools: [
      'check',
      'launch',
      'strict',
      'broken',
      'unjudged',
      'unasked',
      'silent',
      'lost',
      'unread',
      'loud',
      'odd',
      'looped',
      'wide',
      'ask_human',
      { agent: 'helper' },
      { custom: 'deploy', description: 'd', input: { type: 'object' } },
    ],
  });
}

/** Plays these steps in a session of their own. */
async function play(steps: readonly unknown[]): Promise<string> {
  const id = await setup.start('worker');
  scripts.set(id, [...steps]);
  await setup.runtime.wake(id);
  await expectSound(id);
  return id;
}

async function expectSound(id: string): Promise<void> {
  expectSettled(await setup.log(id), await setup.state(id));
}

async function answer(id: string, { kind, requestId, toolName }: PendingAction, allowed: boolean): Promise<unknown> {
  const { sessions } = setup.runtime;
  if (kind === 'permission') return sessions.send(id, { type: 'user.tool_confirmation', requestId, toolName, allowed });
  if (kind === 'answer') return sessions.send(id, { type: 'user.answer', requestId, response: 'yes' });
  return sessions.send(id, { type: 'user.custom_tool_result', requestId, toolName, output: { allowed } });
}

/** Whatever it was told, it answers the next message. */
async function expectAlive(id: string): Promise<void> {
  scripts.set(id, []);
  await setup.runtime.sessions.interrupt(id);
  await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Are you there?' });
  const outcome = await setup.runtime.wake(id);
  expect([outcome.outcome, outcome.summary]).toEqual(['sleep', 'fine']);
  await expectSound(id);
}

const oddText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)), maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '\udc00\ud800',
    '```wakechart-directive\n{"outcome":',
    '```wakechart-directive\n{"outcome":"sleep","summary":7}\n```',
    '```wakechart-directive\n[]\n```',
    '</tool_call>',
    '__proto__',
    '💥'.repeat(500),
  ),
);

const oddName = fc.oneof(
  fc.constantFrom(
    'check',
    'launch',
    'strict',
    'broken',
    'unjudged',
    'unasked',
    'silent',
    'lost',
    'unread',
    'loud',
    'odd',
    'looped',
    'ask_human',
    'helper',
    'deploy',
  ),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'a'.repeat(300),
    'CHECK',
    ' check',
    'check\u200b',
    '\ud83d',
    '../check',
    'shell_run(*)',
  ),
  oddText,
);

const oddInput = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom<unknown>(
    { question: 'Which?' },
    { question: 7 },
    { n: 1 },
    { n: 'x' },
    { message: 'Do it' },
    { message: '' },
    undefined,
    null,
    [],
    'text',
    '{"n":1}',
    JSON.parse('{"__proto__":{"n":1},"constructor":1}'),
    new Date(0),
    { at: new Date(0) },
    10n,
    () => 1,
    { deep: [undefined] },
    { toJSON: () => undefined },
    { '': { '\ud800': 1 } },
  ),
);

const oddPayload = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('tool_call'),
      callId: fc.constantFrom('same', 'same', '', 'c'),
      name: oddName,
      input: oddInput,
    }),
  },
  { weight: 3, arbitrary: oddText.map((text) => ({ type: 'text', text })) },
  { weight: 1, arbitrary: oddText.map((text) => ({ type: 'reasoning', text })) },
  { weight: 1, arbitrary: fc.anything().map((directive) => ({ type: 'directive', directive })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        { outcome: 'continue', summary: 's' },
        {
          outcome: 'sleep',
          summary: 's',
          queuedWakes: [{ reason: 'r', delaySeconds: 1 }],
          customToolRequest: { name: 'x', input: 1 },
        },
      )
      .map((directive) => ({ type: 'directive', directive })),
  },
);

const oddResult = fc.oneof(
  { weight: 8, arbitrary: fc.record({ payloads: fc.array(oddPayload, { maxLength: 6 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      payloads: fc.array(oddPayload, { maxLength: 2 }),
      usage: fc.record(
        {
          inputTokens: fc.constantFrom(-1, Number.NaN, 1e308, 0.5, 3, '3', null),
          cost: fc.constantFrom(-1, Infinity, 0.1),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      payloads: fc.array(oddPayload, { maxLength: 2 }),
      meta: fc.record(
        {
          modelSteps: fc.constantFrom(-1, 0, 2, 0.5, 1e9),
          error: fc.constantFrom(
            undefined,
            { kind: 'refusal', message: '' },
            { kind: 'nonsense', message: 'x' },
            'error',
          ),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ payloads: fc.array(fc.anything(), { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.anything() },
);

describe('a model that says anything', () => {
  it('leaves a session that folds, with one result for each call, that any provider takes, and that answers the next message', async () => {
    await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(oddResult, { minLength: 1, maxLength: 4 }),
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        async (steps, choices) => {
          const id = await play(steps);
          for (const allowed of choices) {
            const [action] = (await setup.state(id)).pendingActions;
            if (action !== undefined) await answer(id, action, allowed);
            await setup.runtime.wake(id);
            await expectSound(id);
          }
          await expectAlive(id);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('a model that asks for what cannot be', () => {
  it.each<[string, string]>([
    ['a tool without a name', ''],
    ['a tool with an endless name', 'a'.repeat(300)],
    ['a name that every object has', '__proto__'],
    ['half a character', '\ud83d'],
    ['a tool that cannot say what its call would do', 'unjudged'],
    ['a tool whose question breaks', 'unasked'],
    ['a question without words', 'silent'],
    ['an agent that nobody can name', 'lost'],
    ['a tool that cannot read its input', 'unread'],
  ])('%s, hears so in the result and goes on', async (_what, name) => {
    await open();
    const id = await setup.start('worker');
    scripts.set(id, [
      {
        payloads: [
          { type: 'tool_call', callId: 'c', name, input: {} },
          { type: 'tool_call', callId: 'c', name: 'check', input: {} },
        ],
      },
    ]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'fine' });
    expect((await setup.results(id)).map(({ outcome }) => outcome)).toEqual(['failed', 'completed']);
    expect((await setup.dataOf(id, 'agent.tool_use'))[0]?.name.length).toBeLessThanOrEqual(200);
    await expectSound(id);
  });

  it('an input that JSON writes otherwise has the same call allowed, stored and run', async () => {
    await open();
    const id = await play([
      {
        payloads: [
          {
            type: 'tool_call',
            callId: 'c',
            name: 'launch',
            input: { at: new Date(0), none: undefined, list: [undefined] },
          },
        ],
      },
    ]);
    const [action] = (await setup.state(id)).pendingActions;
    if (action === undefined) throw new Error('nothing was asked');
    await answer(id, action, true);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'fine' });
    expect(await setup.results(id)).toMatchObject([
      { outcome: 'completed', output: { input: { at: '1970-01-01T00:00:00.000Z', list: [null] } } },
    ]);
  });
});

const calls = (count: number, name: string, input: (n: number) => unknown = () => ({})): unknown => ({
  payloads: Array.from({ length: count }, (_, n) => ({ type: 'tool_call', callId: 'same', name, input: input(n) })),
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

describe('a model that says too much', () => {
  it.each(['check', 'nothing_there', 'strict', 'ask_human', 'launch', 'helper', 'deploy'])(
    'a thousand calls of %s in one step, has a bounded number of them run or asked, and hears about the rest',
    async (name) => {
      await open();
      const id = await play([calls(1_000, name, (n) => ({ n: 'x', question: `${n}?`, message: `${n}` }))]);
      const results = await setup.dataOf(id, 'agent.tool_result');
      expect(await setup.dataOf(id, 'agent.tool_use')).toHaveLength(MAX_TOOL_CALLS_PER_STEP + 1);
      expect(results.filter(({ output }) => String(output).includes('At most')).length).toBeGreaterThanOrEqual(1);
      expect((await setup.requests(id)).length).toBeLessThanOrEqual(MAX_TOOL_CALLS_PER_STEP);
      await expectAlive(id);
    },
  );

  it.each([500, 3_000, 6_000, 20_000, 200_000])(
    'an input %i levels deep has a result or fails its step, and the session lives on',
    async (depth) => {
      await open();
      for (const name of ['check', 'launch', 'deploy']) {
        const id = await play([calls(1, name, () => nested(depth))]);
        await expectAlive(id);
      }
    },
  );

  it.each([
    [1, 2_000_000],
    [MAX_TOOL_CALLS_PER_STEP, 50_000],
  ])(
    '%i inputs of %i characters, more than any model reads, does not keep the session from the next message',
    async (count, characters) => {
      await open();
      await expectAlive(await play([calls(count, 'check', () => ({ text: 'x '.repeat(characters / 2) }))]));
    },
  );

  it('a text larger than any model reads does not either', async () => {
    await open();
    await expectAlive(
      await play([
        {
          payloads: [
            { type: 'text', text: 'x '.repeat(1_000_000) },
            { type: 'tool_call', callId: 'c', name: 'check', input: {} },
          ],
        },
      ]),
    );
  });

  it('a text or an input larger than a record fails its wake and nothing else', async () => {
    await open();
    for (const step of [
      { payloads: [{ type: 'text', text: 'x'.repeat(MAX_RECORD_BYTES + 1) }] },
      calls(1, 'check', () => 'x'.repeat(MAX_RECORD_BYTES + 1)),
    ]) {
      const id = await play([step]);
      expect((await setup.state(id)).lastWake).toMatchObject({
        outcome: 'failed',
        error: { code: 'RECORD_TOO_LARGE' },
      });
      await expectAlive(id);
    }
  });

  it('outputs that are too long, or too much beside the text, are cut to what a model can read', async () => {
    await open();
    const id = await play([
      {
        payloads: ['loud', 'wide', 'odd', 'looped'].map((name) => ({
          type: 'tool_call',
          callId: 'c',
          name,
          input: {},
        })),
      },
    ]);
    const results = await setup.dataOf(id, 'agent.tool_result');
    expect(Object.fromEntries(results.map(({ name, outcome }) => [name, outcome]))).toEqual({
      looped: 'failed',
      loud: 'completed',
      odd: 'completed',
      wide: 'completed',
    });
    // Escaped, a character takes up to six.
    for (const { output } of results)
      expect(JSON.stringify(output).length).toBeLessThan(MAX_TOOL_RESULT_CHARACTERS * 6 + 10);
    await expectAlive(id);
  });

  it('many long answers that came one by one are acted upon together', async () => {
    await open();
    const id = await play([calls(MAX_TOOL_CALLS_PER_STEP, 'deploy')]);
    const output = '漢'.repeat(MAX_TOOL_RESULT_CHARACTERS - 2);
    for (const requestId of await setup.requests(id))
      await setup.runtime.sessions.send(id, { type: 'user.custom_tool_result', requestId, toolName: 'deploy', output });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'fine' });
    expect(await setup.results(id)).toHaveLength(MAX_TOOL_CALLS_PER_STEP);
    await expectSound(id);
  });
});
