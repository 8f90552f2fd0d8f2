import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { interruptedAgainAndAgain, program, records, start, until } from './command-line.ts';
import type { Ended, RunningCommand } from './command-line.ts';
import { isAlive, pidsIn } from './processes.ts';
import { wakeRecordShape } from './shapes.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;

const wake = (session: string): Promise<Ended> => stage.run('wake', '--session', session);

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

describe.concurrent('a wake', () => {
  it('tells what the agent says, what it runs and how that ended, and what is queued', async () => {
    const { id } = await stage.sessionToWake(
      { text: 'I check.', ...runs("printf 'one\\ntwo\\n'; exit 3") },
      sleeps('Checked.', { queuedWakes: [{ reason: 'check again', delaySeconds: 3600 }] }),
    );
    const woken = await wake(id);
    expect(woken).toMatchObject({ code: 0, stderr: '' });
    expect(woken.stdout).toMatch(
      /^ {2}enters {2}host \(sandbox: off\)\n {2}says {4}I check\.\n {2}runs {4}printf .* → exit 3 \d+\.\d s\n {12}one\n {12}two\n {2}queues {2}check again, due .*\nAsleep\. Checked\.\n$/,
    );
    const [again, status] = await Promise.all([wake(id), stage.run('session', 'status', '--session', id)]);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing is unread and nothing is due\.\nThe next queued wake is due /) as string,
    });
    expect(status.stdout).toMatch(/^wakes\s+1, the last one ended .*: sleep\nqueued\s+check again at /m);
  });

  it('is a stream of records for programs: every event, then the outcome', async () => {
    const { id } = await stage.sessionToWake(runs('echo done'), sleeps('Done.'));
    const woken = await stage.runProgram('wake', '--session', id, '--json');
    expect(woken).toMatchObject({ code: 0, stderr: '' });
    const shown = records(woken.stdout).map((record) => wakeRecordShape.parse(record));
    const events = shown.flatMap((record) => ('event' in record ? [record.event] : []));
    expect(shown.at(-1)).toMatchObject({ outcome: { outcome: 'sleep', summary: 'Done.', head: events.at(-1)?.seq } });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 3));
    expect(events.find(({ type }) => type === 'agent.tool_result')?.data).toMatchObject({
      output: { output: 'done\n', exitCode: 0 },
    });
  });

  it('whose model fails says why and exits with 1', async () => {
    const { id } = await stage.sessionToWake({ error: { kind: 'auth', message: 'the model is busy' } });
    const { code, stderr } = await wake(id);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*the model is busy.* \[RUN_FAILED\]\n {2}hint: /);
  });

  it('goes on when nobody watches any more', async () => {
    const { id } = await stage.sessionToWake({ text: 'x'.repeat(100_000) }, sleeps('never said'));
    const woken = start(['wake', '--session', id, '--home', stage.home]);
    woken.process.stdout?.destroy();
    expect(await woken.ended).toMatchObject({ code: 0, stderr: '' });
    expect(await stage.wakeEndings(id)).toEqual(['sleep']);
  });

  it('does not begin while another one of the same session runs', async () => {
    const { id, workspace } = await stage.sessionToWake(
      runs('touch began; while [ ! -e go ]; do sleep 0.02; done'),
      sleeps('Once.'),
    );
    const first = start(['wake', '--session', id, '--home', stage.home]);
    await until('the first wake to begin', () => existsSync(join(workspace, 'began')));
    const second = await wake(id);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(
      /being woken by another process: process \d+ on .*, under epoch 1 \[WAKE_CONFLICT\]\n {2}hint: /,
    );
    await writeFile(join(workspace, 'go'), '');
    expect(await first.ended).toMatchObject({ code: 0 });
  });
});

/**
 * Both write their own process id and that of a descendant in a session of its own; one does as it is told, the other
 * does not.
 */
const PATIENT = `setsid sh -c 'echo $$ >> pids; exec sleep 1000' & echo $$ >> pids; wait`;
const STUBBORN = `trap '' TERM INT; setsid sh -c 'trap "" TERM INT; echo $$ >> pids; while :; do sleep 1; done' & echo $$ >> pids; while :; do sleep 1; done`;

interface RunningWake {
  readonly id: string;
  readonly woken: RunningCommand;
  readonly pids: readonly number[];
}

async function wakeRunning(command: string, on: Stage): Promise<RunningWake> {
  const { id, workspace } = await on.sessionToWake(runs(command), sleeps('Got there.'));
  const woken = start(['wake', '--session', id, '--home', on.home]);
  const pids = await until('the command to run', () => {
    const found = pidsIn(join(workspace, 'pids'));
    return found.length === 2 && found;
  });
  expect(pids.map(isAlive)).toEqual([true, true]);
  return { id, woken, pids };
}

describe.concurrent('a wake that is interrupted', () => {
  it('stops what it runs, records that, and exits as shells expect', async () => {
    const { id, woken, pids } = await wakeRunning(PATIENT, stage);
    woken.process.kill('SIGINT');
    expect(await woken.ended).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('The wake was stopped: received SIGINT') as string,
    });
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await stage.wakeEndings(id)).toEqual(['aborted']);
  });

  it('twice does not ask those who will not listen', async () => {
    const { woken, pids } = await wakeRunning(STUBBORN, stage);
    expect(await interruptedAgainAndAgain(woken)).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/^note: killing what still runs$/m) as string,
    });
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('by SIGKILL is put right by the next one, which ends what was left', async () => {
    // Of its own: every wake of a home ends what it finds left.
    const own = await Stage.open();
    try {
      const { id, woken, pids } = await wakeRunning(PATIENT, own);
      woken.process.kill('SIGKILL');
      await woken.ended;
      expect(pids.map(isAlive)).toEqual([true, true]);
      const next = await own.run('wake', '--session', id);
      expect(next).toMatchObject({ code: 0, stdout: expect.stringMatching(/Asleep\. Got there\.\n$/) as string });
      expect(next.stderr).toMatch(/^note: ended what task_1 of an earlier run left running(?: \(pid \d+\))?\n$/);
      expect(pids.map(isAlive)).toEqual([false, false]);
      expect(await own.wakeEndings(id)).toEqual(['lost', 'sleep']);
    } finally {
      await own.close();
    }
  });
});

/**
 * Gives a command a terminal and prints what it shows there; not on every system, and not everywhere with these
 * options.
 */
const terminal = (command: string): [program: string, words: readonly string[]] => [
  'script',
  ['-qec', command, '/dev/null'],
];
const hasTerminals = spawnSync(...terminal('true'), { stdio: 'ignore' }).status === 0;
const ERASED = '\r\u001B[K';

describe.skipIf(!hasTerminals)('on a terminal', () => {
  it('a wake is colored, and says what it waits for once that takes longer than a second', async () => {
    const { id } = await stage.sessionToWake(runs('sleep 1.4'), sleeps('Rested.'));
    const command = `'${process.execPath}' '${program}' wake --session ${id} --home '${stage.home}'`;
    const { stdout } = await promisify(execFile)(...terminal(command), {
      env: { ...process.env, NO_COLOR: undefined, TERM: 'xterm' },
    });
    const drawn = stdout.split(ERASED);
    expect(drawn.some((text) => /^\S*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]\S* shell_run sleep 1\.4 \S*1\.\d s/u.test(text))).toBe(true);
    expect(drawn.at(-1)).toMatch(/✓.* .*exit 0/);
    expect(drawn.at(-1)).toContain('\u001B[32mAsleep.\u001B[39m Rested.');
  });
});
