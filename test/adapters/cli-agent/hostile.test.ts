import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { AgentRunResult, RunPermissionAnswer } from '../../../src/actors/run/agent-runtime.ts';
import { AgentRuntimeRegistry } from '../../../src/actors/run/agent-runtime-registry.ts';
import { executeAgentRun } from '../../../src/actors/run/execute-agent-run.ts';
import { claudeDialect } from '../../../src/adapters/cli-agent/claude-dialect.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import { MAX_TOOL_CALLS } from '../../../src/actors/run/tool-ledger.ts';
import type { Step } from '../../fixtures/cli-agents/scenario.mjs';
import { cliSetup, textOf, told } from './cli-setup.ts';
import type { CliSetup, CliSetupOptions, Family, Note } from './cli-setup.ts';

let setup: CliSetup | undefined;
const open = async (family: Family, options?: CliSetupOptions): Promise<CliSetup> => {
  setup = await cliSetup(family, options);
  return setup;
};
afterEach(async () => {
  const left = setup?.left() ?? [];
  await setup?.close();
  setup = undefined;
  expect(left).toEqual([]);
});

const allow: RunPermissionAnswer = { decision: 'allow' };
const question = (requestId: string, callId: string, input: object) => ({
  type: 'control_request',
  request_id: requestId,
  request: { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: callId, input },
});
const asks = (...given: Parameters<typeof question>): Step => ({ message: question(...given) });
const answersIn = (notes: readonly Note[]) => notes.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));

describe('a question of Claude Code', () => {
  /** Runs until so many questions have been answered. */
  async function answered(
    count: number,
    steps: readonly Step[],
    requestPermission: (input: unknown) => Promise<RunPermissionAnswer>,
  ) {
    const { start, scenario, notes, runtime } = await open('claude');
    const run = start({
      model: await scenario(...steps, { hang: true }),
      requestPermission: ({ input }) => requestPermission(input),
    });
    await expect.poll(() => answersIn(notes()).length, { timeout: 10_000, interval: 20 }).toBe(count);
    await runtime.abort('run_1');
    await run.result;
    return { answers: answersIn(notes()), events: told(run.events) };
  }

  it('that is nested too deeply to be judged is denied without asking anybody', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const raw = `${JSON.stringify(question('r', 't', { command: 'ls', x: 0 })).replace('"x":0', `"x":${deep}`)}\n`;
    const { answers, events } = await answered(1, [{ raw }], () => Promise.reject(new Error('somebody was asked')));
    expect(answers).toMatchObject([
      {
        request_id: 'r',
        response: { behavior: 'deny', message: 'Its input is nested too deeply to be judged.' },
      },
    ]);
    expect(events.filter((line) => line.startsWith('tool'))).toEqual(['tool requested Bash', 'tool ended denied']);
  });

  it('is refused while another one by its id is not answered, which is allowed as it was asked', async () => {
    const asked: unknown[] = [];
    let permit: () => void = () => undefined;
    const permitted = new Promise<RunPermissionAnswer>((resolve) => {
      permit = () => resolve(allow);
    });
    const steps = [
      asks('r', 't', { command: 'ls' }),
      asks('r', 't', { command: 'rm -rf .' }),
      asks('s', 'u', { command: 'date' }),
    ];
    const { answers } = await answered(3, steps, (input) => {
      asked.push(input);
      if (asked.length === 1) return permitted;
      // The last one: by now the second has been read.
      permit();
      return Promise.resolve(allow);
    });
    expect(asked).toEqual([{ command: 'ls' }, { command: 'date' }]);
    expect(answers.filter(({ subtype }) => subtype === 'error')).toEqual([
      { subtype: 'error', request_id: 'r', error: 'a question with the id r is not answered yet' },
    ]);
    expect(answers.filter(({ request_id, subtype }) => request_id === 'r' && subtype === 'success')).toMatchObject([
      { response: { behavior: 'allow', updatedInput: { command: 'ls' } } },
    ]);
  });

  it('that was withdrawn and asked anew by its id does not get the answer to the old one', async () => {
    let permitFirst: () => void = () => undefined;
    let count = 0;
    const steps = [
      asks('r', 't', { command: 'ls' }),
      { message: { type: 'control_cancel_request', request_id: 'r' } },
      asks('r', 'u', { command: 'rm -rf .' }),
    ];
    const { answers } = await answered(1, steps, async () => {
      count += 1;
      if (count === 1) {
        return new Promise((resolve) => {
          permitFirst = () => resolve(allow);
        });
      }
      permitFirst();
      await new Promise((resolve) => setImmediate(resolve));
      return { decision: 'deny', message: 'No.' };
    });
    expect(answers).toMatchObject([{ request_id: 'r', response: { behavior: 'deny', message: 'No.' } }]);
  });

  it.each([
    ['each for a tool of its own', (index: number) => `t${index}`],
    ['all for one tool', () => 't'],
  ])('is one of so many, %s', async (_name, callId) => {
    const { start, scenario } = await open('claude');
    const raw = Array.from(
      { length: MAX_TOOL_CALLS + 100 },
      (_, index) => `${JSON.stringify(question(`r${index}`, callId(index), {}))}\n`,
    ).join('');
    let count = 0;
    const run = start({
      model: await scenario({ raw }, { hang: true }),
      requestPermission: () => {
        count += 1;
        return Promise.resolve({ decision: 'deny', message: 'No.' });
      },
    });
    const { meta } = await run.result;
    expect(meta?.error).toMatchObject({
      kind: 'format',
      message: expect.stringContaining(`it has asked for permission more than ${MAX_TOOL_CALLS} times`),
    });
    expect(count).toBeLessThanOrEqual(MAX_TOOL_CALLS);
  });
});

describe('a program that is asked over candidates', () => {
  async function execute(
    { runtime, directory, workspaceDir, settings }: CliSetup,
    model: string,
    {
      command,
      candidateHealth = new MemoryCandidateHealthStore({ clock: createSystemClock() }),
    }: { readonly command?: string; readonly candidateHealth?: MemoryCandidateHealthStore } = {},
  ): Promise<AgentRunResult> {
    const provider = settings(command === undefined ? {} : { program: { ...settings().program, command } });
    return executeAgentRun({
      ...{
        clock: createSystemClock(),
        candidateHealth,
        limits: { maxBackOffs: 2 },
        random: () => 0,
        onListenerError: () => undefined,
      },
      models: [{ provider: 'agent', model }],
      registry: new AgentRuntimeRegistry([runtime]),
      request: {
        runId: 'run_1',
        sessionId: 'session_1',
        workspaceDir,
        agentDir: directory,
        modelStepsTaken: 0,
        prompt: 'Hello?',
        config: { providers: { agent: provider } },
      },
    }).result;
  }

  it('is not asked again once it has done what nobody here knows', async () => {
    const codex = await open('codex');
    const model = await codex.scenario(
      {
        message: {
          method: 'item/completed',
          params: { item: { id: 'i', type: 'collabAgentToolCall', tool: 'spawnAgent', status: 'completed' } },
        },
      },
      { result: { status: 'failed', error: { message: 'stream error: overloaded, try again' } } },
    );
    const { meta } = await execute(codex, model);
    expect([meta?.attempts?.length, meta?.error?.kind]).toEqual([1, 'overloaded']);
  });

  it('can be asked at once when it was not there and has been installed', async () => {
    const claude = await open('claude');
    const candidateHealth = new MemoryCandidateHealthStore({ clock: createSystemClock() });
    const missing = await execute(claude, 'default', { command: 'no-such-program', candidateHealth });
    expect(missing.meta?.error).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('install Claude Code'),
    });
    expect(textOf(await execute(claude, 'default', { candidateHealth }))).toBe('Hello.');
  });
});

describe('what a program tells of itself', () => {
  it.each([
    ['', 0],
    ['x'.repeat(5_000), 0],
    ['x'.repeat(1_000), 1_000],
  ])('is taken for its session where the log can hold that: %#', async (session_id, length) => {
    const { run, scenario } = await open('claude');
    const { meta, payloads } = await run({
      model: await scenario(
        { message: { type: 'result', subtype: 'success', is_error: false, result: 'ok', session_id } },
        { noResult: true },
      ),
    });
    expect(payloads).toEqual([{ type: 'text', text: 'ok' }]);
    expect(meta?.sessionId?.length ?? 0).toBe(length);
  });

  it('is told as the tool that it names, where nobody here knows its kind', async () => {
    const { start, scenario } = await open('codex');
    const item = (body: object): Step => ({
      message: { method: 'item/completed', params: { item: { id: 'i', ...body } } },
    });
    const run = start({
      model: await scenario(
        item({ type: 'dreamCall', name: 'apply_patch', status: 'failed' }),
        item({ id: 'j', type: 'contextCompaction' }),
        { say: 'Done.' },
      ),
    });
    await run.result;
    expect(told(run.events).filter((line) => line.startsWith('tool'))).toEqual([
      'tool requested dream_call',
      'tool started',
      'tool ended failed',
    ]);
    expect(run.events.find(({ stream }) => stream === 'tool')?.data).toMatchObject({ input: { name: 'apply_patch' } });
  });

  it('holds no login of an address that was passed on to it, and nothing that looks like a key', async () => {
    const { run, scenario, settings } = await open('claude', {
      environment: { HTTPS_PROXY: 'http://corp:pr0xypass%21word@proxy:3128' },
    });
    const steps: readonly Step[] = [
      { say: 'By corp:pr0xypass%21word, that is pr0xypass!word.' },
      { error: 'tunnel through http://corp:pr0xypass%21word@proxy:3128 failed, sk-ant-api03-0123456789abcdef' },
      { exit: 1 },
    ];
    const { meta, payloads } = await run({
      model: await scenario(...steps),
      config: {
        providers: { agent: settings({ program: { ...settings().program, pass: ['HTTPS_PROXY'] } as never }) },
      },
    });
    expect(JSON.stringify([meta, payloads])).not.toMatch(/pr0xypass|0123456789abcdef/);
    expect(JSON.stringify(payloads)).toMatch(
      /By \[redacted login.{0,3} of HTTPS_PROXY\], that is \[redacted login.{0,3} of HTTPS_PROXY\]\./,
    );
    expect(meta?.error?.message).toMatch(/tunnel through http:\/\/\[redacted.{0,30}\]@proxy:3128 failed, \[redacted\]/);
  });

  it('before it ends in words that nobody knows says nothing about its provider', async () => {
    const { run, scenario } = await open('claude');
    const { meta } = await run({
      model: await scenario({ error: 'TypeError: cannot read properties of undefined (reading hooks)' }, { exit: 1 }),
    });
    expect(meta?.error).toMatchObject({ kind: 'unknown', message: expect.stringContaining('reading hooks') });
  });

  it('of a session that is gone is told in a few words', async () => {
    const { run, scenario } = await open('codex');
    const { meta } = await run({
      model: await scenario({ say: 'Hi.' }),
      resume: { sessionId: 's', generation: 1, newMessages: [] },
      prompt: 'x',
    });
    expect(meta?.reseeded).toMatch(/^The session s of codex could not go on, so a new one was begun/);
    expect(meta?.reseeded?.length).toBeLessThanOrEqual(500);
  });
});

describe('the budget of a turn of Claude Code', () => {
  const argumentsOf = (options: object, maxCost?: number) =>
    claudeDialect
      .converse({
        model: undefined,
        instructions: undefined,
        prompt: 'x',
        resumedSessionId: undefined,
        workspaceDir: '/',
        options: { ...options },
        maxCost,
      })
      .args.filter((arg) => arg.includes('budget'));

  it.each([
    [{}, undefined, []],
    [{}, 0.25, ['--max-budget-usd=0.250000']],
    [{}, 0, ['--max-budget-usd=0.000001']],
    [{ 'max-budget-usd': 5 }, undefined, ['--max-budget-usd=5']],
    [{ 'max-budget-usd': 5 }, 7, ['--max-budget-usd=5']],
    [{ 'max-budget-usd': '5' }, 2, ['--max-budget-usd=2.000000']],
    [{ 'max-budget-usd': 'much' }, 2, ['--max-budget-usd=2.000000']],
  ])('is the least of its option and of what is left: %j, %s', (options, maxCost, expected) => {
    expect(argumentsOf(options, maxCost)).toEqual(expected);
  });
});
