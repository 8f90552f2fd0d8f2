import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { AgentRunParams } from '../../../src/actors/run/agent-runtime.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { Step } from '../../fixtures/cli-agents/scenario.mjs';
import { cliSetup, textOf, told } from './cli-setup.ts';
import type { CliSetup, CliSetupOptions, Family } from './cli-setup.ts';

let setup: CliSetup | undefined;
const open = async (family: Family, options?: CliSetupOptions): Promise<CliSetup> => {
  setup = await cliSetup(family, options);
  return setup;
};
afterEach(async () => {
  const left = setup?.left();
  await setup?.close();
  setup = undefined;
  expect(left).toEqual([]);
});

const FAMILIES: readonly Family[] = ['claude', 'codex'];
const hang: Step = { hang: true };
const result = (over: object): Step => ({ result: over });
const failed = (message: string): Step => result({ status: 'failed', error: { message } });
const complains = (message: string): Step => ({ message: { method: 'error', params: { error: { message } } } });

describe.each<[string, Family, readonly Step[], RunFailureKind, string]>([
  [
    'crashes with words on its error output',
    'claude',
    [{ say: 'Hi' }, { error: 'Error: connect ECONNREFUSED 127.0.0.1:1' }, { exit: 1 }],
    'server_error',
    'ECONNREFUSED',
  ],
  [
    'ends without a word',
    'claude',
    [{ noResult: true, exit: 0 }],
    'server_error',
    'it ended with exit code 0 without a result',
  ],
  ['is not logged in', 'claude', [{ error: 'Invalid API key · Please run /login' }, { exit: 1 }], 'auth', 'log in'],
  ['has reached its turns', 'claude', [result({ subtype: 'error_max_turns', is_error: true })], 'format', 'max-turns'],
  [
    'says nothing about why it failed',
    'claude',
    [result({ subtype: 'error_during_execution', is_error: true, result: '' })],
    'unknown',
    'error_during_execution',
  ],
  [
    'may not begin',
    'claude',
    [
      result({
        subtype: 'error_during_execution',
        is_error: true,
        errors: ['The workspace is odd.'],
        startup_failure_reason: 'cwd_unavailable',
      }),
    ],
    'format',
    'The workspace is odd.',
  ],
  [
    'sends a result that is none',
    'claude',
    [{ message: { type: 'result' } }, hang],
    'server_error',
    'its result is none',
  ],
  ['sends one endless line', 'claude', [{ hugeLine: 50_000_000 }, hang], 'format', 'longer than 16777216 bytes'],
  ['prints nothing but garbage', 'claude', [{ raw: 'what?\n'.repeat(11_000) }, hang], 'format', 'the last is: what?'],
  [
    'prints garbage and ends',
    'codex',
    [{ raw: 'what?\nhow?\n' }, { exit: 3 }],
    'server_error',
    'it ended with exit code 3 without a result; 2 lines of its output are no messages, the last is: how?',
  ],
  [
    'sends a message nested beyond all bounds',
    'claude',
    [{ raw: `${'['.repeat(200_000)}\n` }, { exit: 2 }],
    'server_error',
    'are no messages',
  ],
  [
    'closes its output and lives on',
    'claude',
    [{ closeOutput: true }],
    'server_error',
    'it closed its output and did not end',
  ],
  ['crashes by a signal', 'codex', [{ kill: 'SIGSEGV' }], 'server_error', 'SIGSEGV'],
  [
    'tells of a failure of the provider',
    'codex',
    [failed('stream error: 503 Service Unavailable')],
    'overloaded',
    '503',
  ],
  [
    'complains and ends',
    'codex',
    [complains('You have hit your usage limit. Try again in 2 hours.'), { exit: 1 }],
    'rate_limit',
    'usage limit',
  ],
])('a program that %s', (_name, family, steps, kind, words) => {
  it('fails the run, and leaves nothing behind', async () => {
    const { start, scenario } = await open(family);
    const run = start({ model: await scenario(...steps) });
    const { meta } = await run.result;
    expect(meta?.error?.message).toContain(words);
    expect(meta?.error?.kind).toBe(kind);
    expect(told(run.events).at(-1)).toBe('lifecycle error');
  });
});

describe('a program that waits for its provider', () => {
  it('says how long, by the end of the limit', async () => {
    const clock = createSimulatedClock();
    const { run, scenario } = await open('claude', { clock });
    const limit = {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: clock.now() / 1_000 + 60 },
    };
    const { meta } = await run({
      model: await scenario(
        { message: limit },
        result({ is_error: true, result: "You've hit your limit", api_error_status: 429 }),
      ),
    });
    expect(meta?.error).toMatchObject({ kind: 'rate_limit', retryAfterMs: 60_000 });
  });

  it('is not given up for an error that it gets over', async () => {
    const { run, scenario } = await open('codex');
    const answer = await run({
      model: await scenario(complains('Reconnecting... 1/5'), { say: 'Back.' }),
    });
    expect([textOf(answer), answer.meta?.error]).toEqual(['Back.', undefined]);
  });
});

describe('a program that says nothing', () => {
  it.each(FAMILIES)('counts as hung after the time that is set for %s, and what it said is kept', async (family) => {
    const clock = createSimulatedClock();
    const { start, scenario, settings } = await open(family, { clock });
    const run = start({
      model: await scenario({ say: 'Wait' }, { deaf: true }, hang),
      config: { providers: { agent: settings({ idleTimeoutMs: 5_000 }) } },
    });
    await run.until(({ stream }) => stream === 'assistant');
    await clock.advance(4_999);
    expect(told(run.events).at(-1)).not.toContain('lifecycle');
    await clock.advance(10_000);
    const ended = await run.result;
    expect([ended.meta?.error?.kind, ended.meta?.error?.message]).toEqual([
      'timeout',
      expect.stringContaining('it has said nothing for 5000 ms'),
    ]);
    expect('Wait'.startsWith(textOf(ended))).toBe(true);
  });

  it('is not hung while somebody thinks about a permission', async () => {
    const clock = createSimulatedClock();
    const { start, scenario } = await open('claude', { clock });
    let allow: () => void = () => undefined;
    const asked = new Promise<void>((resolveAsked) => {
      allow = resolveAsked;
    });
    let answer: () => void = () => undefined;
    const run = start({
      model: await scenario({ use: { name: 'Bash', input: {} }, ask: true }, { say: 'Done.' }),
      requestPermission: () => {
        allow();
        return new Promise((resolve) => {
          answer = () => resolve({ decision: 'allow' });
        });
      },
    });
    await asked;
    await clock.advance(86_400_000);
    answer();
    expect(textOf(await run.result)).toBe('Done.');
  });
});

describe('a program that is stopped', () => {
  it.each(FAMILIES)('and ignores that goes with all it has started: %s', async (family) => {
    const { start, scenario, runtime, notes } = await open(family);
    const run = start({
      model: await scenario(
        { deaf: true },
        { grandchild: true },
        { say: 'Ready.' },
        { use: { name: 'Bash', input: {}, hangs: true } },
      ),
    });
    await run.until(({ stream }) => stream === 'tool');
    await runtime.abort('run_1');
    const stopped = await run.result;
    expect([textOf(stopped), stopped.meta?.error?.kind]).toEqual(['Ready.', 'aborted']);
    expect(stopped.meta?.sessionId).toBeDefined();
    expect(told(run.events).slice(-2)).toEqual(['tool ended cancelled', 'lifecycle aborted']);
    expect(notes().some(({ grandchild }) => grandchild !== undefined)).toBe(true);
  });
});

describe('a program that has answered', () => {
  it.each(FAMILIES)('takes what it has started along: %s', async (family) => {
    const { run, scenario } = await open(family);
    const answer = await run({ model: await scenario({ grandchild: true }, { say: 'Done.' }) });
    expect([textOf(answer), answer.meta?.error]).toEqual(['Done.', undefined]);
  });

  it('is believed, whatever it says or does afterwards', async () => {
    const { start, scenario } = await open('codex');
    const over = { method: 'turn/completed', params: { turn: { id: 't', status: 'completed' } } };
    const run = start({ model: await scenario({ say: 'Done.' }, { message: over }, { say: 'More.' }, { exit: 1 }) });
    const answer = await run.result;
    expect([textOf(answer), answer.meta?.error]).toEqual(['Done.', undefined]);
    expect(told(run.events).at(-1)).toBe('lifecycle end');
  });
});

describe('what cannot be started', () => {
  const startWith = async (params: (setup: CliSetup) => Partial<AgentRunParams>): Promise<string> => {
    const opened = await open('claude');
    const run = opened.start(params(opened));
    const { meta } = await run.result;
    expect(told(run.events)).toEqual(['lifecycle start', 'lifecycle error']);
    return `${meta?.error?.kind}: ${meta?.error?.message}`;
  };
  const provider = (settings: object) =>
    ({ config: { providers: { agent: { backend: 'cli-agent', ...settings } } } }) as Partial<AgentRunParams>;

  it('is named, with how to get it', async () => {
    const text = await startWith(() => provider({ dialect: 'claude', program: { command: 'no-such-claude' } }));
    expect(text).toContain('unknown: no-such-claude: there is no such program; install Claude Code');
    expect(text).toContain('set program.command of the provider "agent"');
  });

  it('is not searched for in the workspace, where the agent may write', async () => {
    const opened = await open('claude', { environment: {} });
    await mkdir(join(opened.workspaceDir, 'bin'));
    await writeFile(join(opened.workspaceDir, 'bin', 'planted'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const { meta } = await opened.run({
      config: {
        providers: {
          agent: opened.settings({
            program: { command: 'planted', set: { PATH: `${opened.workspaceDir}/bin:/usr/bin:/bin` } },
          }),
        },
      },
    });
    expect(meta?.error).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('there is no such program'),
    });
  });

  it.each<[string, (setup: CliSetup) => Partial<AgentRunParams>, string]>([
    [
      'because it is no program',
      ({ directory }) => provider({ dialect: 'claude', program: { command: directory } }),
      'format:',
    ],
    ['in a folder that is not there', ({ directory }) => ({ workspaceDir: join(directory, 'nowhere') }), 'format: '],
    [
      'because nobody says of which family it is',
      () => provider({ program: { command: 'x' } }),
      'format: expected the provider "agent" to say',
    ],
    [
      'because nobody says anything about it',
      () => ({ provider: 'somebody' }),
      'format: expected the provider "somebody" to say',
    ],
    [
      'by settings that are none',
      () => provider({ dialect: 'claude', program: { command: '' } }),
      'format: the settings of the provider "agent" are not valid: program.command',
    ],
  ])('%s, says so', async (_name, params, expected) => {
    expect(await startWith(params)).toContain(expected);
  });
});
