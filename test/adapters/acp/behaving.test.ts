import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { MAX_REQUESTS_AT_ONCE } from '../../../src/adapters/acp/agent-messages.ts';
import type { Step } from '../../fixtures/acp-agents/agent.mjs';
import { acpSetup, answering, textOf, told } from './acp-setup.ts';
import type { AcpSetup, AcpSetupOptions } from './acp-setup.ts';

let setup: AcpSetup;

async function opened(options?: AcpSetupOptions): Promise<AcpSetup> {
  setup = await acpSetup(options);
  return setup;
}

afterEach(async () => {
  expect(await setup.left()).toEqual([]);
  await setup.close();
});

describe('a turn', () => {
  interface Case {
    readonly what: string;
    readonly steps: readonly Step[];
    readonly kind?: string;
    readonly text?: string;
    readonly says?: string | RegExp;
  }
  const cases: readonly Case[] = [
    {
      what: 'ends with what was said when the tokens are used up',
      steps: [{ say: 'half an' }, { stop: 'max_tokens' }],
      text: 'half an',
    },
    {
      what: 'ends with what was said when the model calls are used up',
      steps: [{ say: 'half an' }, { stop: 'max_turn_requests' }],
      text: 'half an',
    },
    {
      what: 'is empty when the tokens are used up before',
      steps: [{ stop: 'max_tokens' }],
      kind: 'empty_response',
      says: 'it has used up its tokens before it answered',
    },
    {
      what: 'is empty when there were only thoughts',
      steps: [{ think: 'hm' }],
      kind: 'empty_response',
      says: 'without an answer',
    },
    {
      what: 'is a refusal when the agent says so',
      steps: [{ say: 'No.' }, { stop: 'refusal' }],
      kind: 'refusal',
      text: 'No.',
    },
    {
      what: 'is stopped when the agent has canceled it',
      steps: [{ say: 'so f' }, { stop: 'cancelled' }],
      kind: 'aborted',
      text: 'so f',
      says: 'canceled the turn by itself',
    },
    {
      what: 'fails by what the agent says of its provider',
      steps: [
        { rpcError: { code: -32603, message: 'Internal error', data: { details: 'API Error: 529 Overloaded' } } },
      ],
      kind: 'overloaded',
      says: /: it answered with an error: Internal error: API Error: 529 Overloaded \(-32603\)$/,
    },
    {
      what: 'fails when its login has run out',
      steps: [{ say: 'a' }, { rpcError: { code: -32000, message: 'Authentication required' } }],
      kind: 'auth',
      text: 'a',
    },
    {
      what: 'fails when the program ends',
      steps: [{ say: 'a' }, { error: 'out of memory' }, { exit: 7 }],
      kind: 'unknown',
      text: 'a',
      says: /it ended with exit code 7 before it had answered; its error output ends with: out of memory$/,
    },
    {
      what: 'is a crash when the system kills the program',
      steps: [{ say: 'a' }, { kill: 'SIGKILL' }],
      kind: 'server_error',
      text: 'a',
      says: 'it was ended by SIGKILL',
    },
    {
      what: 'fails when the program closes its output',
      steps: [{ say: 'a' }, { closeOutput: true }],
      kind: 'server_error',
      text: 'a',
      says: 'it closed its output and did not end',
    },
    {
      what: 'fails when the program ends and a grandchild holds its output',
      steps: [{ say: 'a' }, { grandchild: true }, { exit: 1 }],
      kind: 'server_error',
      text: 'a',
    },
    {
      what: 'fails when a line is longer than any message',
      steps: [{ say: 'a' }, { hugeLine: 17 * 1024 * 1024 }, { hang: true }],
      kind: 'format',
      text: 'a',
      says: 'a line of its output is longer than 16777216 bytes',
    },
    {
      what: 'fails when most of what comes is no message',
      steps: [{ say: 'a' }, { noise: 10_001 }, { hang: true }],
      kind: 'format',
      text: 'a',
      says: '10001 lines of its output are no messages that can be understood',
    },
    {
      what: 'goes on behind lines that are no messages',
      steps: [
        {
          raw: 'warning: x\n{"jsonrpc":"2.0"}\n[]\n{"jsonrpc":"2.0","id":999,"result":{}}\n{"jsonrpc":"2.0","id":{},"method":"x"}\n',
        },
        { say: 'a' },
      ],
      text: 'a',
    },
    {
      what: 'goes on behind a method that nobody knows',
      steps: [{ request: { method: '_x/unknown', params: {} } }, { say: 'a' }],
      text: 'a',
    },
    {
      what: 'goes on behind a request that cannot be read',
      steps: [{ request: { method: 'fs/read_text_file', params: { path: 7 } } }, { say: 'a' }],
      text: 'a',
    },
    { what: 'is over when the agent says so, whatever comes later', steps: [{ say: 'a' }, { late: 'b' }], text: 'a' },
  ];

  it.each(cases)('$what', async ({ steps, kind, text = '', says = '' }) => {
    const { start, scenario } = await opened();
    const run = start({ model: await scenario(...steps) });
    const result = await run.result;
    expect([result.meta?.error?.kind, textOf(result)]).toEqual([kind, text]);
    expect(result.meta?.error?.message ?? '').toMatch(says);
    expect(told(run.events).at(-1)).toBe(
      `lifecycle ${kind === undefined ? 'end' : kind === 'aborted' ? 'aborted' : 'error'}`,
    );
  });

  it('keeps separate what was said in separate messages, and around tools', async () => {
    const { run, scenario } = await opened();
    const chunk = (text: string, messageId: string): Step => ({
      update: { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } },
    });
    const { payloads } = await run({
      model: await scenario(
        chunk('a', '1'),
        chunk('b', '1'),
        chunk('c', '2'),
        { think: 'hm' },
        { use: { name: 'x', input: { a: 1 } } },
        chunk('d', '2'),
      ),
    });
    expect(payloads).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'text', text: 'c' },
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'd' },
    ]);
  });

  it('tells people what was passed over', async () => {
    const { run, scenario, news } = await opened();
    await run({ model: await scenario({ raw: 'debug: on\n' }, { say: 'a' }) });
    expect(news).toEqual([
      expect.stringMatching(/: 1 lines of its output are no messages that can be understood, the last is: debug: on$/),
    ]);
  });

  it('answers a flood of requests only as far as anybody could', async () => {
    const { run, scenario } = await opened();
    const create = { method: 'fs/read_text_file', params: { path: '/none' } };
    const blocked = new Promise<never>(() => undefined);
    const model = await scenario(
      {
        requests: Array.from({ length: MAX_REQUESTS_AT_ONCE + 5 }, () => ({
          ...create,
          params: { path: `${setup.workspaceDir}/none` },
        })),
      },
      { say: 'a' },
    );
    let count = 0;
    const requestPermission = async () => {
      count += 1;
      return count === MAX_REQUESTS_AT_ONCE ? { decision: 'deny' as const, message: 'no' } : blocked;
    };
    const controller = new AbortController();
    const result = run({ model, requestPermission, abortSignal: controller.signal });
    await expect.poll(() => setup.answersTo('fs/read_text_file').length, { timeout: 20_000 }).toBe(6);
    controller.abort();
    expect((await result).meta?.error?.kind).toBe('aborted');
    expect(
      setup.answersTo('fs/read_text_file').filter(({ error }) => error?.message.startsWith('There are 100 requests')),
    ).toHaveLength(5);
  });
});

describe('a stop', () => {
  it('is told to the agent, which ends the turn by itself, and its session can go on', async () => {
    const { start, scenario, runtime, notes } = await opened();
    const run = start({ model: await scenario({ say: 'so far' }, { hang: true }) });
    await run.until(({ stream }) => stream === 'assistant');
    await runtime.abort('run_1');
    const { meta, payloads } = await run.result;
    expect([meta?.error, payloads]).toEqual([
      { kind: 'aborted', message: 'aborted by the caller' },
      [{ type: 'text', text: 'so far' }],
    ]);
    expect(notes().flatMap(({ cancel }) => cancel ?? [])).toEqual([meta?.sessionId]);
  });

  it('ends an agent that does not listen once its time is up, and its session is not named', async () => {
    const clock = createSimulatedClock();
    const { start, scenario, runtime, notes } = await opened({ clock });
    const run = start({
      model: await scenario(
        { deafToCancel: true },
        { deaf: true },
        { grandchild: true },
        { use: { name: 'x', input: { a: 1 } } },
        { say: 'so far' },
        { use: { name: 'y', input: {}, hangs: true } },
      ),
    });
    await run.until(({ stream, data }) => stream === 'tool' && data.phase === 'requested' && data.name === 'y');
    await runtime.abort('run_1');
    await expect.poll(() => notes().some(({ cancel }) => cancel !== undefined), { timeout: 20_000 }).toBe(true);
    expect(runtime.isRunActive('run_1')).toBe(true);
    await clock.advance(3_000);
    const { meta } = await run.result;
    expect([meta?.error?.kind, meta?.sessionId]).toEqual(['aborted', undefined]);
    expect(told(run.events).slice(-2)).toEqual(['tool ended cancelled', 'lifecycle aborted']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('answers what the agent waits for, and allows nothing that was asked before', async () => {
    const { start, scenario, answersTo } = await opened();
    const controller = new AbortController();
    let allow: (answer: { readonly decision: 'allow' }) => void = () => undefined;
    const requestPermission = () => new Promise<{ readonly decision: 'allow' }>((resolve) => (allow = resolve));
    const run = start({
      model: await scenario({ use: { name: 'x', input: {} }, ask: ['allow_once', 'reject_once'] }, { say: 'late' }),
      requestPermission,
      abortSignal: controller.signal,
    });
    await run.until(({ stream }) => stream === 'tool');
    controller.abort('enough');
    allow({ decision: 'allow' });
    expect((await run.result).meta?.error).toEqual({ kind: 'aborted', message: 'enough' });
    expect(answersTo('session/request_permission')).toMatchObject([{ result: { outcome: { outcome: 'cancelled' } } }]);
    expect(told(run.events)).toEqual([
      'lifecycle start',
      'tool requested x',
      expect.stringMatching(/^tool ended (?:denied|cancelled)$/),
      'lifecycle aborted',
    ]);
  });

  it.each(['initialize', 'session/new'])('while the agent is at %s is over at once', async (hangsIn) => {
    const { start, settings, notes, runtime } = await opened();
    const run = start({ config: { providers: { agent: settings({ hangsIn }) } } });
    await expect.poll(() => notes().some(({ initialize }) => initialize !== undefined), { timeout: 20_000 }).toBe(true);
    await runtime.abort('run_1');
    expect((await run.result).meta).toEqual({
      error: { kind: 'aborted', message: 'aborted by the caller' },
      modelSteps: 0,
    });
  });
});

describe('silence', () => {
  it('ends a turn when it lasts too long, with what was said', async () => {
    const clock = createSimulatedClock();
    const { start, scenario, settings } = await opened({ clock });
    const run = start({
      model: await scenario({ say: 'so far' }, { hang: true }),
      config: { providers: { agent: settings({}, { idleTimeoutMs: 60_000 }) } },
    });
    await run.until(({ stream, data }) => stream === 'assistant' && data.text.endsWith('far'));
    await clock.advance(59_999);
    expect(setup.runtime.isRunActive('run_1')).toBe(true);
    await clock.advance(60_000);
    const result = await run.result;
    expect([result.meta?.error?.kind, result.meta?.error?.message, textOf(result)]).toEqual([
      'timeout',
      expect.stringContaining('it has said nothing for 60000 ms'),
      'so far',
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not count while somebody is asked', async () => {
    const clock = createSimulatedClock();
    const { start, scenario, settings } = await opened({ clock });
    let allow: (answer: { readonly decision: 'allow' }) => void = () => undefined;
    const requestPermission = () => new Promise<{ readonly decision: 'allow' }>((resolve) => (allow = resolve));
    const run = start({
      model: await scenario({ use: { name: 'x', input: {} }, ask: ['allow_once'] }, { say: 'done' }),
      requestPermission,
      config: { providers: { agent: settings({}, { idleTimeoutMs: 60_000 }) } },
    });
    await run.until(({ stream }) => stream === 'tool');
    await clock.advance(600_000);
    allow({ decision: 'allow' });
    expect(textOf(await run.result)).toBe('done');
  });
});

describe('an agent that has answered', () => {
  it('is ended when it does not end by itself', async () => {
    const { run, settings } = await opened({ runtime: { lingerMs: 50 } });
    expect(textOf(await run({ config: { providers: { agent: settings({ deafToEnd: true }) } } }))).toBe('Hello.');
    expect(await setup.left()).toEqual([]);
  });

  it('leaves no process of its own behind', async () => {
    const { run, scenario } = await opened({ runtime: { lingerMs: 50 } });
    await run({ model: await scenario({ deaf: true }, { grandchild: true }, { say: 'a' }) });
    expect(await setup.left()).toEqual([]);
  });
});

describe('the secret of an account', () => {
  it('is nowhere in what is told, whole or in pieces', async () => {
    const { start, scenario, news } = await opened();
    const secret = 'contract-secret/7f3a91c05d';
    const run = start({
      model: await scenario({ tellSecret: true }),
      credential: { profileId: 'work', secret },
      ...answering(),
    });
    const everything = JSON.stringify([await run.result, run.events, news]);
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(encodeURIComponent(secret));
    expect(everything).toContain('[redacted FIXTURE_KEY]');
  });
});
