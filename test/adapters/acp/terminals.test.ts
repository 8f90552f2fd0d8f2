import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TerminalOutput } from '../../../src/adapters/acp/terminal.ts';
import type { Step } from '../../fixtures/acp-agents/agent.mjs';
import { acpSetup, answering, told } from './acp-setup.ts';
import type { StartedRun } from '../../support/program-setup.ts';
import type { AcpSetup, Note } from './acp-setup.ts';

describe('the output that is kept of a command', () => {
  const kept = (limit: number, isWhole: boolean, ...chunks: readonly Buffer[]): object => {
    const output = new TerminalOutput(limit);
    for (const chunk of chunks) output.add(chunk);
    return output.read(isWhole);
  };
  const setup = Buffer.from('Häuser 🏠');

  it.each<[string, object, object]>([
    ['is all of it while there is room', kept(100, true, setup), { output: 'Häuser 🏠', truncated: false }],
    ['is its end when there is none', kept(5, true, Buffer.from('abcdefgh')), { output: 'defgh', truncated: true }],
    ['begins with a whole character', kept(6, true, setup), { output: 'r 🏠', truncated: true }],
    ['begins behind a character that does not fit', kept(3, true, setup), { output: '', truncated: true }],
    [
      'ends with a whole character as long as more may come',
      kept(100, false, setup.subarray(0, setup.length - 1)),
      { output: 'Häuser ', truncated: false },
    ],
    [
      'is put together from pieces that end anywhere',
      kept(100, false, setup.subarray(0, 2), setup.subarray(2, 9), setup.subarray(9)),
      { output: 'Häuser 🏠', truncated: false },
    ],
    ['is nothing when nothing may be kept', kept(0, true, setup), { output: '', truncated: true }],
    [
      'stays small however much comes',
      kept(4, true, ...Array.from({ length: 200 }, () => Buffer.alloc(10_000, 'x'))),
      { output: 'xxxx', truncated: true },
    ],
  ])('%s', (_what, received, expected) => {
    expect(received).toEqual(expected);
  });
});

let setup: AcpSetup;

beforeEach(async () => {
  setup = await acpSetup();
});

afterEach(async () => {
  expect(await setup.left()).toEqual([]);
  await setup.close();
});

const terminal = (create: object, ...calls: readonly string[]): Step => ({ terminal: { create, calls } });

async function asked(
  step: Step,
  person = answering(),
): Promise<{
  readonly notes: readonly Note[];
  readonly run: StartedRun;
  readonly person: ReturnType<typeof answering>;
}> {
  const run = setup.start({ model: await setup.scenario(step, { say: 'x' }), ...person });
  await run.result;
  return { notes: setup.notes().filter(({ method }) => method !== undefined), run, person };
}

const toolOutput = ({ events }: StartedRun): unknown =>
  events.flatMap(({ stream, data }) => (stream === 'tool' && data.phase === 'ended' ? [data.output] : []))[0];

describe('a terminal of an agent', () => {
  it('runs a command that was allowed as one, in the workspace, and tells how it went', async () => {
    const { notes, run, person } = await asked(
      terminal({ command: 'printf', args: ['%s %s', "it's", '$HOME'] }, 'wait_for_exit', 'output', 'release', 'output'),
    );
    expect(person.asked).toEqual([
      {
        callId: 'asked-of-us:1',
        name: 'terminal/create',
        input: { command: 'printf', args: ['%s %s', "it's", '$HOME'] },
        means: { kind: 'command', command: String.raw`printf '%s %s' 'it'\''s' '$HOME'`, cwd: setup.workspaceDir },
      },
    ]);
    expect(notes).toMatchObject([
      { result: { terminalId: 'terminal-1' } },
      { result: { exitCode: 0, signal: null } },
      { result: { output: "it's $HOME", truncated: false, exitStatus: { exitCode: 0, signal: null } } },
      { result: {} },
      { error: { code: -32002 } },
    ]);
    expect(toolOutput(run)).toEqual({ exitCode: 0, output: "it's $HOME" });
    expect(told(run.events).filter((each) => each.startsWith('tool'))).toEqual([
      'tool requested terminal/create',
      'tool started',
      'tool ended completed',
    ]);
  });

  it('reads a command without arguments as a line for a shell', async () => {
    const { notes, run, person } = await asked(
      terminal({ command: 'echo one && (echo two >&2; exit 3)' }, 'wait_for_exit'),
    );
    expect([person.asked[0]?.means, notes[1]?.result]).toEqual([
      { kind: 'command', command: 'echo one && (echo two >&2; exit 3)', cwd: setup.workspaceDir },
      { exitCode: 3, signal: null },
    ]);
    expect(toolOutput(run)).toMatchObject({ exitCode: 3 });
  });

  it.each<[string, object, string]>([
    ['with words', { command: 'npm', args: ['test'], env: [{ name: 'A', value: 'b c' }] }, "A='b c' npm test"],
    ['as a line', { command: 'npm test', env: [{ name: 'A', value: 'b' }] }, 'export A=b; npm test'],
    ['whose program looks like a variable', { command: 'A=b', args: ['x'] }, "'A=b' x"],
  ])('judges a command %s together with its variables', async (_what, create, command) => {
    const { person } = await asked(
      terminal(create),
      answering(() => 'deny'),
    );
    expect(person.asked.map(({ means }) => means)).toEqual([{ kind: 'command', command, cwd: setup.workspaceDir }]);
  });

  it('gives a command the usual variables and those that it asks for, and not the account of the agent', async () => {
    const model = await setup.scenario(
      terminal(
        { command: 'echo "$MINE;$FIXTURE_KEY;$FIXTURE_HOME" > env.txt', env: [{ name: 'MINE', value: 'yes' }] },
        'wait_for_exit',
      ),
    );
    await setup.run({ model, ...answering(), credential: { profileId: 'p', secret: 'very-secret-value' } });
    expect(await readFile(join(setup.workspaceDir, 'env.txt'), 'utf8')).toBe('yes;;\n');
  });

  it.each<[string, () => Promise<object>, string]>([
    [
      'in a folder out of the workspace',
      () => Promise.resolve({ command: 'ls', cwd: '/' }),
      'lies outside the workspace',
    ],
    [
      'in a folder behind a link',
      async () => {
        await symlink('/', join(setup.workspaceDir, 'root'));
        return { command: 'ls', cwd: join(setup.workspaceDir, 'root') };
      },
      'lies outside the workspace',
    ],
    ['in no folder', () => Promise.resolve({ command: 'ls', cwd: join(setup.workspaceDir, 'none') }), 'is no folder'],
    [
      'with a variable of ours',
      () => Promise.resolve({ command: 'ls', env: [{ name: 'WAKECHART_TASK', value: 'x' }] }),
      'expected names and values of variables',
    ],
    ['with no command', () => Promise.resolve({ command: ' ' }), 'expected a command'],
    [
      'that does not exist',
      () => Promise.resolve({ command: 'no-such-command', args: ['x'] }),
      'there is no such program',
    ],
  ])('is not made %s', async (_what, create, says) => {
    const { notes, run } = await asked(terminal(await create()));
    expect(notes[0]?.error?.message).toContain(says);
    expect(told(run.events).filter((each) => each.startsWith('tool ended'))).toHaveLength(1);
  });

  it('runs in a folder of the workspace, and keeps as much of its output as was asked for', async () => {
    await mkdir(join(setup.workspaceDir, 'sub'));
    const { notes } = await asked(
      terminal(
        { command: 'basename "$PWD"; printf 0123456789', cwd: join(setup.workspaceDir, 'sub'), outputByteLimit: 4 },
        'wait_for_exit',
        'output',
      ),
    );
    expect(notes[2]?.result).toMatchObject({ output: '6789', truncated: true });
  });

  it('is killed with all that it started, and stays to be read', async () => {
    const { notes, run } = await asked(
      terminal(
        { command: 'echo on; (trap "" TERM; sleep 1000) & trap "" TERM; sleep 1000' },
        'kill',
        'wait_for_exit',
        'output',
      ),
    );
    // Which of the two it is depends on whether the shell had come to its trap.
    const signal = expect.stringMatching(/^SIG(?:TERM|KILL)$/) as string;
    expect(notes.slice(1)).toMatchObject([
      { result: {} },
      { result: { exitCode: null, signal } },
      { result: { exitStatus: { signal } } },
    ]);
    expect(told(run.events)).toContain('tool ended cancelled');
  });

  it('ends with the turn, however it holds on', async () => {
    const { run } = await asked(terminal({ command: 'trap "" TERM; (setsid sleep 1000 &) ; sleep 1000' }));
    expect(told(run.events).filter((each) => each.startsWith('tool'))).toEqual([
      'tool requested terminal/create',
      'tool started',
      'tool ended cancelled',
    ]);
    expect(await setup.left()).toEqual([]);
  });

  it.each([
    ['while it runs', 1],
    ['maybe before it runs', 0],
  ])('ends when the run is stopped %s', async (_when, made) => {
    const run = setup.start({
      model: await setup.scenario(terminal({ command: 'sleep 1000' }, 'wait_for_exit')),
      ...answering(),
    });
    await run.until(({ stream, data }) => stream === 'tool' && data.phase === 'started');
    await expect
      .poll(() => setup.answersTo('terminal/create').length, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(made);
    await setup.runtime.abort('run_1');
    expect((await run.result).meta?.error?.kind).toBe('aborted');
    expect(told(run.events)).toEqual([
      'lifecycle start',
      'tool requested terminal/create',
      'tool started',
      'tool ended cancelled',
      'lifecycle aborted',
    ]);
  });

  it('is one of so many', async () => {
    const create = { method: 'terminal/create', params: { command: 'true' } };
    await asked({ requests: Array.from({ length: 33 }, () => create) });
    const refused = setup.answersTo('terminal/create').filter(({ error }) => error !== undefined);
    expect(refused.map(({ error }) => error?.message)).toEqual([
      expect.stringContaining('There are 32 terminals that are not released'),
    ]);
  });

  it('is not made when that is denied, or nobody can permit it', async () => {
    const { notes } = await asked(
      terminal({ command: 'touch made' }),
      answering(() => 'deny'),
    );
    await setup.run({ model: await setup.scenario(terminal({ command: 'touch made' })) });
    expect([notes[0]?.error?.message, setup.answersTo('terminal/create')[1]?.error?.message]).toEqual([
      'Not today.',
      'No person is there to permit it.',
    ]);
    await expect(readFile(join(setup.workspaceDir, 'made'))).rejects.toThrow('ENOENT');
  });
});
