import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { interruptedAgainAndAgain, records, run, start, until } from './command-line.ts';
import type { CommandLineOptions, Ended, RunningCommand } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { isAlive, pidsIn } from './processes.ts';
import { taskRecordShape } from './shapes.ts';

let folder: TemporaryHome;

const wordsFor = (words: readonly string[], home = 'home'): string[] => [
  'task',
  'run',
  '--home',
  join(folder.path, home),
  ...words,
];
const taskRun = (words: readonly string[]): Promise<Ended> => runInProcess(wordsFor(words));
const taskProgram = (words: readonly string[], options: CommandLineOptions = {}): Promise<Ended> =>
  run(wordsFor(words), { cwd: folder.path, ...options });

beforeAll(async () => {
  folder = await temporaryHome();
});

afterAll(() => folder.remove());

describe.concurrent('a command run as a task', () => {
  it('writes where it would have written, and exits as it would have exited', async () => {
    const cases: readonly (readonly [readonly string[], Partial<Ended>])[] = [
      [['--', 'echo out; echo err >&2; exit 7'], { code: 7, stdout: 'out\n', stderr: 'err\n' }],
      [
        ['--', 'printf', '%s|', 'two words', "it's", '$HOME', '--json'],
        { code: 0, stdout: "two words|it's|$HOME|--json|" },
      ],
      [['--', 'kill -TERM $$'], { code: 143, stdout: '', stderr: '' }],
      [['--cwd', '/', '--', 'pwd; cat; no-such-program'], { code: 127, stdout: '/\n' }],
    ];
    const ends = await Promise.all(cases.map(([words]) => taskProgram(words)));
    expect(ends).toEqual(cases.map(([, expected]) => expect.objectContaining(expected) as Ended));
  });

  it('reads what is piped in, and only as much as it wants', async () => {
    const long = 'línea\n'.repeat(200_000);
    const [all, first] = await Promise.all([
      taskProgram(['--', 'cat'], { input: long }),
      taskProgram(['--', 'head', '-1'], { input: long }),
    ]);
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout === long).toBe(true);
    expect(first).toEqual({ code: 0, stdout: 'línea\n', stderr: '' });
  });

  it('is not given other bytes than were piped in', async () => {
    const { code, stderr } = await taskProgram(['--', 'cat'], { input: Buffer.from([0x61, 0xff, 0xfe]) });
    expect(code).toBe(1);
    expect(stderr).toMatch(/expected UTF-8 text on standard input[\s\S]*hint: /);
  });

  it('is recorded without the secrets of the home, and the recording says which are not known', async () => {
    const home = join(folder.path, 'secretive');
    await mkdir(join(home, 'vaults'), { recursive: true, mode: 0o700 });
    await writeFile(
      join(home, 'vaults', 'github.yaml'),
      'secrets: { token: { value: ghp_Sup3rSecretValue42 }, deploy: { command: ["false"] } }',
      { mode: 0o600 },
    );
    const file = join(folder.path, 'secretive.ndjson');
    const { code, stdout, stderr } = await runInProcess(
      wordsFor(['--record', file, '--', 'echo ghp_Sup3rSecretValue42'], 'secretive'),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ghp_Sup3rSecretValue42\n' });
    expect(stderr).toContain('which stay in it wherever they stand: github/deploy');
    const recorded = await readFile(file, 'utf8');
    expect([recorded.includes('ghp_Sup3rSecretValue42'), recorded.includes('echo [redacted github/token]')]).toEqual([
      false,
      true,
    ]);
  });

  it('leaves no recording where its inspector cannot be opened', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    try {
      await once(taken, 'listening');
      const file = join(folder.path, 'never.ndjson');
      const { code, stderr } = await taskRun([
        '--record',
        file,
        `--inspect=${(taken.address() as AddressInfo).port}`,
        '--',
        'true',
      ]);
      expect([code, stderr.includes('[INSPECTOR_PORT_TAKEN]'), existsSync(file)]).toEqual([1, true, false]);
    } finally {
      taken.close();
    }
  });

  it('is a stream of records for programs', async () => {
    const { code, stdout, stderr } = await taskRun([
      '--json',
      '--',
      "printf 'caf\\303'; sleep 0.1; printf '\\251'; echo problem >&2; exit 2",
    ]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    const shown = records(stdout).map((record) => taskRecordShape.parse(record));
    const said = (source: string): string =>
      shown.flatMap((record) => ('stream' in record && record.stream === source ? [record.text] : [])).join('');
    expect({ stdout: said('stdout'), stderr: said('stderr') }).toEqual({ stdout: 'café', stderr: 'problem\n' });
    expect(shown.at(-1)).toMatchObject({ task: { status: 'completed', exitCode: 2 } });
  });

  it('that writes faster than anybody reads loses nothing', async () => {
    const running = start(wordsFor(['--', 'seq 300000']));
    const { stdout } = running.process;
    stdout?.pause();
    await until('the command to have written', () => (stdout?.readableLength ?? 0) > 0);
    stdout?.resume();
    const { code, stdout: text } = await running.ended;
    expect({ code, lines: text.split('\n').length - 1, end: text.slice(-7) }).toEqual({
      code: 0,
      lines: 300_000,
      end: '300000\n',
    });
  });

  it('ends when nobody reads it any more, as it would without us', async () => {
    const running = start(wordsFor(['--', 'yes']));
    const { stdout } = running.process;
    if (stdout !== null) await once(stdout, 'data');
    stdout?.destroy();
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    [
      'longer than it may',
      ['--timeout-ms', '200', '--', 'sleep 1000'],
      /ran longer than 200 ms \[TASK_TIMED_OUT\]\n {2}hint: Raise --timeout-ms/,
    ],
    [
      'in silence longer than it may',
      ['--idle-timeout-ms', '300', '--', 'sleep 1000'],
      /no progress for 300 ms \[TASK_IDLE\]\n {2}hint: Raise --idle-timeout-ms/,
    ],
    [
      'in a folder that is not there',
      ['--cwd', 'nowhere', '--', 'true'],
      /nowhere cannot be entered[\s\S]*hint: Name a folder that exists with --cwd/,
    ],
  ])('that runs %s fails, and says what to change', async (_, words, complaint) => {
    const { code, stderr } = await taskRun(words);
    expect(code).toBe(1);
    expect(stderr).toMatch(complaint);
  });

  it('leaves no record of itself behind', async () => {
    await runInProcess(wordsFor(['--', 'true'], 'empty'));
    expect(await readdir(join(folder.path, 'empty/processes'))).toEqual([]);
  });
});

let trees = 0;

/** Starts a command that runs a descendant in a session of its own; both write down who they are. */
async function startTree(
  how: 'patient' | 'stubborn',
  home?: string,
): Promise<{ readonly running: RunningCommand; readonly pids: readonly number[] }> {
  trees += 1;
  const file = join(folder.path, `pids-${trees}`);
  const trap = how === 'stubborn' ? `trap "" TERM INT;` : '';
  const command = `${trap} setsid sh -c '${trap} echo $$ >> ${file}; while :; do sleep 1; done' & echo $$ >> ${file}; while :; do sleep 1; done`;
  const running = start(wordsFor(['--', command], home));
  const pids = await until('the command to run', () => {
    const found = pidsIn(file);
    return found.length === 2 && found;
  });
  return { running, pids };
}

describe.concurrent('a command that is interrupted', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s ends with everything it started, and exits with %i', async (signal, code) => {
    const { running, pids } = await startTree('patient');
    running.process.kill(signal);
    expect(await running.ended).toEqual({ code, stdout: '', stderr: '' });
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('twice is killed, however deaf it is', async () => {
    const { running, pids } = await startTree('stubborn');
    expect(await interruptedAgainAndAgain(running)).toEqual({
      code: 130,
      stdout: '',
      stderr: 'note: killing what still runs\n',
    });
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('by SIGKILL is ended by the next command that works on the same home', async () => {
    // Of its own: every command on a home ends what it finds left.
    const { running, pids } = await startTree('patient', 'crashed');
    running.process.kill('SIGKILL');
    await running.ended;
    const next = await runInProcess(wordsFor(['--', 'echo fine'], 'crashed'));
    expect(next).toMatchObject({
      code: 0,
      stdout: 'fine\n',
      stderr: expect.stringMatching(/^note: ended what task_1 of an earlier run left running/) as string,
    });
    expect(pids.map(isAlive)).toEqual([false, false]);
  });
});

it('without --home the records lie where the command was started', async () => {
  const here = await temporaryHome();
  try {
    expect(await run(['task', 'run', '--', 'true'], { cwd: here.path })).toMatchObject({ code: 0 });
    expect(existsSync(join(here.path, '.wakechart/processes'))).toBe(true);
  } finally {
    await here.remove();
  }
});
