import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { AgentRuntimeRegistry } from '../../../src/actors/run/agent-runtime-registry.ts';
import { executeAgentRun } from '../../../src/actors/run/execute-agent-run.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { Abilities } from '../../fixtures/acp-agents/agent.mjs';
import { says as saysThis, toldRuntime } from '../../support/told-runtime.ts';
import { acpSetup, answering, textOf, told } from './acp-setup.ts';
import type { AcpSetup, AcpSetupOptions } from './acp-setup.ts';

let setup: AcpSetup | undefined;

async function opened(options?: AcpSetupOptions): Promise<AcpSetup> {
  setup = await acpSetup(options);
  return setup;
}

afterEach(async () => {
  expect(await setup?.left()).toEqual([]);
  await setup?.close();
  setup = undefined;
});

const said = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;

describe('an agent of another age', () => {
  it('is no end of the run: another provider is asked', async () => {
    const { runtime, settings, workspaceDir, directory } = await opened();
    const request = {
      runId: 'run_1',
      sessionId: 's',
      prompt: 'Hello?',
      config: { providers: { agent: settings({ version: 7 }) } },
      workspaceDir,
      agentDir: directory,
      modelStepsTaken: 0,
    };
    const models = [
      { provider: 'agent', model: 'default' },
      { provider: 'agent', model: 'other' },
      { provider: 'spare', model: 'm' },
    ];
    const registry = new AgentRuntimeRegistry([runtime, toldRuntime('spare', [saysThis('From another.')])]);
    const result = await executeAgentRun({
      request,
      models,
      registry,
      clock: createSystemClock(),
      onListenerError: (error) => expect(error).toBeUndefined(),
    }).result;
    expect([textOf(result), result.meta?.attempts?.map(({ candidate, next }) => [candidate.provider, next])]).toEqual([
      'From another.',
      [
        ['agent', 'fall_back'],
        ['spare', undefined],
      ],
    ]);
  });
});

describe('an agent that cannot be asked', () => {
  interface Case {
    readonly what: string;
    readonly abilities?: Abilities;
    readonly settings?: Partial<ProviderSettings>;
    readonly model?: string;
    readonly kind: string;
    readonly says: string;
  }
  const cases: readonly Case[] = [
    {
      what: 'speaks another version of the protocol',
      abilities: { version: 7 },
      kind: 'format',
      says: 'it speaks version 7 of the Agent Client Protocol, expected version 1',
    },
    {
      what: 'answers what is no answer',
      abilities: { answer: { protocolVersion: 'one' } },
      kind: 'format',
      says: 'its answer to initialize is not what the protocol says: protocolVersion',
    },
    {
      what: 'demands a login and nobody has said which',
      abilities: { auth: true },
      kind: 'auth',
      says: 'it wants to be logged in: Authentication required',
    },
    {
      what: 'demands a login that it does not know',
      abilities: { auth: true },
      settings: { options: { authMethod: 'oauth' } },
      kind: 'auth',
      says: 'It knows no way to log in called "oauth"; it offers key (With a key)',
    },
    {
      what: 'refuses the login',
      abilities: { auth: true, authFails: true },
      settings: { options: { authMethod: 'key' } },
      kind: 'auth',
      says: 'it could not log in by "key"',
    },
    {
      what: 'is not there',
      settings: { program: { command: 'no-such-agent' } },
      kind: 'unknown',
      says: 'no-such-agent: there is no such program; install it',
    },
    {
      what: 'may not be executed',
      settings: { program: { command: '/etc/passwd' } },
      kind: 'format',
      says: 'it cannot be started: it may not be executed',
    },
    {
      what: 'is no agent',
      settings: { program: { command: '/bin/sh', args: ['-c', 'echo nothing here; echo Not logged in >&2; exit 3'] } },
      kind: 'auth',
      says: 'it ended with exit code 3 before it had answered',
    },
    {
      what: 'prints what is no message, and is content with that',
      settings: { program: { command: '/bin/sh', args: ['-c', 'echo agent 0.1, type help'] } },
      kind: 'format',
      says: 'it ended with exit code 0 before it had answered; 1 lines of its output are no messages',
    },
    { what: 'has no such model', model: 'gpt-9', kind: 'model_not_found', says: 'it has no model "gpt-9"; it has ' },
    {
      what: 'does not let one choose its model',
      abilities: { noModels: true },
      model: 'gpt-9',
      kind: 'model_not_found',
      says: 'the model "default" leaves the choice to it',
    },
    {
      what: 'has no such mode',
      settings: { options: { mode: 'dream' } },
      kind: 'format',
      says: 'it has no mode "dream"; it has code, plan',
    },
    {
      what: 'has no such setting',
      settings: { options: { settings: { effort: 'high' } } },
      kind: 'format',
      says: 'it has no setting "effort"; it has model',
    },
    {
      what: 'cannot connect to MCP servers over HTTP',
      settings: { options: { mcpServers: [{ name: 'docs', type: 'http', url: 'http://127.0.0.1:1/' }] } },
      kind: 'format',
      says: 'it cannot connect to MCP servers over http, as "docs" is one',
    },
    {
      what: 'is given options that nobody knows',
      settings: { options: { authmethod: 'key' } },
      kind: 'format',
      says: 'authmethod',
    },
    {
      what: 'hangs before it can be asked',
      abilities: { hangsIn: 'session/new' },
      settings: { idleTimeoutMs: 300 },
      kind: 'timeout',
      says: 'it has said nothing for 300 ms',
    },
  ];

  it.each(cases)('$what', async ({ abilities = {}, settings = {}, model = 'default', kind, says }) => {
    const { run, settings: settingsOf } = await opened();
    const { meta, payloads } = await run({ model, config: { providers: { agent: settingsOf(abilities, settings) } } });
    expect([meta?.error?.kind, payloads, meta?.modelSteps, meta?.sessionId]).toEqual([kind, [], 0, undefined]);
    expect(meta?.error?.message).toContain(says);
  });

  it('is named by the error output that it leaves', async () => {
    const { run, settings } = await opened();
    const program = { command: '/bin/sh', args: ['-c', 'echo "not JSON at all"; echo "the disk is full" >&2; exit 3'] };
    const { meta } = await run({ config: { providers: { agent: settings({}, { program }) } } });
    expect(meta?.error?.message).toMatch(
      /^\/bin\/sh: it ended with exit code 3 before it had answered; its error output ends with: the disk is full; 1 lines of its output are no messages that can be understood, the last is: not JSON at all$/,
    );
  });

  it.each<[string, ProviderSettings | undefined, string]>([
    ['there are none', undefined, 'expected settings for the provider "agent" that name its program, received none'],
    [
      'they name no program',
      { backend: 'acp' },
      'expected the provider "agent" to name its program (program.command), received none',
    ],
  ])('has no settings that can be used: %s', async (_what, agent, says) => {
    const { start } = await opened();
    const run = start({ config: agent === undefined ? {} : { providers: { agent } } });
    expect((await run.result).meta?.error).toEqual({ kind: 'format', message: says });
    expect(told(run.events)).toEqual(['lifecycle start', 'lifecycle error']);
  });

  it('is given no secret when nobody has said in which variable it wants it', async () => {
    const { run, settings } = await opened();
    const { options: _options, ...agent } = settings();
    const { meta } = await run({
      config: { providers: { agent } },
      credential: { profileId: 'work', secret: 'very-secret-value' },
    });
    expect(meta?.error).toEqual({
      kind: 'format',
      message: expect.stringContaining('set options.secretVariable of the provider'),
    });
  });

  it('counts as hung after five minutes, however patient its settings are', async () => {
    const clock = createSimulatedClock();
    const { start, settings, notes } = await opened({ clock });
    const run = start({
      config: { providers: { agent: settings({ hangsIn: 'initialize' }, { idleTimeoutMs: 86_400_000 }) } },
    });
    await expect.poll(() => notes().some(({ initialize }) => initialize !== undefined), { timeout: 20_000 }).toBe(true);
    await clock.advance(300_000);
    expect((await run.result).meta?.error).toMatchObject({ kind: 'timeout' });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('an agent that is opened', () => {
  it('logs in by the way that was chosen, once it demands it', async () => {
    const { run, settings, notes } = await opened();
    const result = await run({
      config: { providers: { agent: settings({ auth: true }, { options: { authMethod: 'key' } }) } },
    });
    expect(textOf(result)).toBe('Hello.');
    expect(notes().flatMap(({ authenticate }) => authenticate?.methodId ?? [])).toEqual(['key']);
  });

  it('gets the mode, the settings and the MCP servers that were chosen', async () => {
    const { run, settings, notes, workspaceDir } = await opened();
    const mcpServers = [
      { name: 'files', command: 'mcp-files', args: ['-v'], env: { LEVEL: '3' } },
      { name: 'docs', type: 'http', url: 'http://127.0.0.1:1/', headers: { 'X-Team': 'a' } },
    ];
    await run({
      config: {
        providers: {
          agent: settings({ http: true }, { options: { mode: 'plan', settings: { model: 'notes' }, mcpServers } }),
        },
      },
    });
    expect(notes().find(({ newSession }) => newSession !== undefined)?.newSession).toEqual({
      cwd: workspaceDir,
      // Of its settings those of its user only: what a workspace holds would widen what it may do.
      _meta: { claudeCode: { options: { settingSources: ['user'] } } },
      mcpServers: [
        { name: 'files', command: 'mcp-files', args: ['-v'], env: [{ name: 'LEVEL', value: '3' }] },
        { name: 'docs', type: 'http', url: 'http://127.0.0.1:1/', headers: [{ name: 'X-Team', value: 'a' }] },
      ],
    });
    expect(notes().flatMap(({ mode }) => mode ?? [])).toEqual(['plan']);
    expect(
      notes().flatMap(({ setting }) => (setting === undefined ? [] : [[setting.configId, setting.value]])),
    ).toEqual([['model', 'notes']]);
  });

  it('gets the usual variables, those that were named, and its account, and nothing else of ours', async () => {
    const host = {
      PATH: process.env['PATH'],
      HOME: '/setup',
      LANG: 'C',
      OTHER_KEY: 'other-secret',
      PASSED: 'yes',
      WAKECHART_HOME: '/x',
      TMPDIR: process.env['TMPDIR'],
    };
    const { run, settings, notes, workspaceDir } = await opened({
      runtime: { environment: () => ({ ...host, PATH: `${workspaceDirOf()}:${host.PATH}` }) },
    });
    function workspaceDirOf(): string {
      return setup?.workspaceDir ?? '';
    }
    const agent = settings(
      {},
      { program: { command: process.execPath, args: settings().program?.args ?? [], pass: ['PASSED'] } },
    );
    await run({
      config: { providers: { agent } },
      credential: { profileId: 'work', secret: 'very-secret-value', environment: { ACCOUNT_HOME: '/accounts/work' } },
    });
    const env = notes().find((note) => note.env !== undefined)?.env ?? {};
    expect(env).toMatchObject({
      HOME: '/setup',
      PASSED: 'yes',
      FIXTURE_KEY: 'very-secret-value',
      ACCOUNT_HOME: '/accounts/work',
      PATH: host.PATH,
    });
    expect(Object.keys(env)).not.toContain('OTHER_KEY');
    expect(Object.keys(env)).not.toContain('WAKECHART_HOME');
    expect(env['PATH']).not.toContain(workspaceDir);
  });

  it.each([
    ['offers to read, write and run commands where somebody can permit it', answering().requestPermission, true],
    ['offers nothing where nobody can', undefined, false],
  ])('%s', async (_what, requestPermission, isOffered) => {
    const { run, notes } = await opened();
    await run({ requestPermission });
    expect(notes().find(({ initialize }) => initialize !== undefined)?.initialize?.clientCapabilities).toMatchObject({
      fs: { readTextFile: isOffered, writeTextFile: isOffered },
      terminal: isOffered,
    });
  });
});

describe('a session of the agent', () => {
  const conversation = [
    said('at first'),
    { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] } as const,
    said('and then'),
  ] as const;
  const resume = (sessionId: string) => ({ sessionId, generation: 1, newMessages: conversation.slice(2) });
  const promptsOf = ({ notes }: AcpSetup): readonly string[] =>
    notes().flatMap(({ prompt }) => (prompt === undefined ? [] : [prompt.map(({ text }) => text).join('\n')]));

  it.each<[string, Abilities]>([
    ['resumed', { load: true, resume: true }],
    ['loaded, and what it tells of the past is not told again', { load: true }],
    ['loaded, also where it tells of the past only then', { load: true, tellsLate: true }],
  ])('is %s', async (_what, abilities) => {
    const home = await opened({ abilities });
    const { meta } = await home.run({ messages: conversation.slice(0, 1) });
    const run = home.start({ messages: conversation, resume: resume(meta?.sessionId ?? '') });
    const result = await run.result;
    expect(result.meta).toEqual({ sessionId: meta?.sessionId, modelSteps: 1 });
    expect(told(run.events)).toEqual(['lifecycle start', 'assistant text Hel', 'assistant text lo.', 'lifecycle end']);
    expect(promptsOf(home)).toEqual(['at first', 'and then']);
  });

  it('is begun anew with the whole conversation when it is gone, and the reason is told', async () => {
    const home = await opened();
    const { meta } = await home.run({ messages: conversation, resume: resume('gone') });
    expect(meta?.reseeded).toMatch(
      /^The session "gone" of .* could not go on, so a new one was begun and given the whole conversation: Resource not found.*\.$/,
    );
    expect(promptsOf(home)[0]).toContain('at first');
  });

  it('of an agent that can take up none is not named, and begun anew when it is asked for', async () => {
    const home = await opened({ abilities: {} });
    const { meta } = await home.run({ messages: conversation, resume: resume('other') });
    expect(meta).toEqual({ reseeded: expect.stringContaining('the agent cannot take up sessions'), modelSteps: 1 });
  });

  it('is told its instructions each time', async () => {
    const home = await opened();
    const { meta } = await home.run({ instructions: 'Be brief.', messages: conversation.slice(0, 1) });
    await home.run({ instructions: 'Be verbose.', messages: conversation, resume: resume(meta?.sessionId ?? '') });
    expect(promptsOf(home)).toEqual([
      '<instructions>\nBe brief.\n</instructions>\nat first',
      '<instructions>\nBe verbose.\n</instructions>\nand then',
    ]);
  });

  it('says what it has cost and used when it has begun with the run', async () => {
    const home = await opened();
    const model = await home.scenario(
      { say: 'x' },
      { update: { sessionUpdate: 'usage_update', used: 5, size: 10, cost: { amount: 0.25, currency: 'USD' } } },
      { usage: { totalTokens: 20, inputTokens: 10, cachedReadTokens: 4, outputTokens: 5, thoughtTokens: 1 } },
    );
    const { usage } = await home.run({ model });
    expect(usage).toEqual({ inputTokens: 14, outputTokens: 6, cachedInputTokens: 4, reasoningTokens: 1, cost: 0.25 });
  });

  it('that goes on counts what the turn has used, and of the cost only what came since', async () => {
    const home = await opened({ abilities: { load: true, loadCost: 1 } });
    const { meta } = await home.run();
    const model = await home.scenario(
      { say: 'x' },
      { update: { sessionUpdate: 'usage_update', used: 5, size: 10, cost: { amount: 1.5, currency: 'USD' } } },
      { usage: { totalTokens: 20, inputTokens: 10, outputTokens: 5 } },
    );
    const { usage } = await home.run({ model, messages: conversation, resume: resume(meta?.sessionId ?? '') });
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 5, cost: 0.5 });
  });
});
