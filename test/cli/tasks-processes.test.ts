/** Tasks of a worker, of a chat and of a program, from another terminal: followed, fed, cancelled, and lost. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTaskOwner } from '../support/task-owner.ts';
import type { TaskOwner } from '../support/task-owner.ts';
import { Tmux, hasTmux } from '../support/tmux.ts';
import type { Ended, RunningCommand } from './command-line.ts';
import { interruptedAgainAndAgain, run, start, until } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';
import type { Step } from './stage.ts';

let stage: Stage;
const running: RunningCommand[] = [];
const owners: TaskOwner[] = [];

beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(async () => {
  for (const owner of owners.splice(0)) await owner.kill();
  for (const { process: child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  await stage.runtime.reconcile();
  await stage.close();
});

const task = (...words: readonly string[]): Promise<Ended> => run(['task', ...words, '--home', stage.home]);

function begin(...words: readonly string[]): RunningCommand {
  const begun = start([...words, '--home', stage.home]);
  running.push(begun);
  return begun;
}

interface Listed {
  readonly id: string;
  readonly taskId: string;
  readonly status: string;
  readonly process: { readonly pid: number; readonly reach: string };
  readonly parentSessionId: string;
}

async function listed(): Promise<readonly Listed[]> {
  return (JSON.parse((await task('list', '--json')).stdout) as { readonly tasks: readonly Listed[] }).tasks;
}

const taskOf = (pid: number | undefined): Promise<Listed> =>
  until('the task of the worker', async () => (await listed()).find((each) => each.process.pid === pid));

/** Puts out a line each time that the file `go` is there. */
const TICKS = 'n=0; while :; do n=$((n+1)); echo "tick $n"; until rm go 2>/dev/null; do sleep 0.02; done; done';

async function worksOn(
  ...steps: readonly Step[]
): Promise<{ worker: RunningCommand; session: string; workspace: string }> {
  const { id, workspace } = await stage.sessionToWake(...steps);
  return { worker: begin('worker'), session: id, workspace };
}

describe('a command of an agent that a worker wakes', () => {
  it('is seen with its session, followed, and cancelled, which the agent hears', async () => {
    const { worker, session } = await worksOn(runs(TICKS), sleeps('It was stopped.'));
    const found = await taskOf(worker.process.pid);
    expect(found).toMatchObject({ status: 'running', parentSessionId: session });
    const follower = begin('task', 'logs', found.id, '--follow');
    await until('its first line', () => follower.stdout() === 'tick 1\n');
    expect((await task('cancel', found.id.slice(0, 5))).stdout).toBe(`Cancelled task ${found.id}\n`);
    const { code, stdout, stderr } = await follower.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'tick 1\n' });
    expect(stderr).toContain('cancelled');
    await until('the rest of the session', async () => (await stage.wakeEndings(session)).includes('sleep'));
    expect((await task('list')).stdout).toContain('No process over');
  });

  it('is lost with a worker that is killed, and told so before and after the next one clears up', async () => {
    const { worker, workspace } = await worksOn(runs(TICKS), sleeps('Done.'));
    const { id } = await taskOf(worker.process.pid);
    const follower = begin('task', 'logs', id, '--follow');
    const attached = begin('task', 'attach', id);
    const waiting = begin('task', 'logs', id, '--follow', '--json');
    for (const each of [follower, attached, waiting]) await until('a line', () => each.stdout().includes('tick 1'));
    await writeFile(join(workspace, 'go'), '');
    for (const each of [follower, attached, waiting]) await until('another', () => each.stdout().includes('tick 2'));
    worker.process.kill('SIGKILL');
    for (const each of [follower, attached, waiting])
      expect(await each.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('[TASK_LOST]') as string });
    const isLost = async (): Promise<void> => {
      expect(await listed()).toMatchObject([{ id, status: 'failed', process: { reach: 'lost' } }]);
      expect((await task('logs', id)).stdout).toBe('tick 1\ntick 2\n');
    };
    await isLost();
    expect(await task('attach', id)).toMatchObject({ code: 1 });
    await stage.runtime.reconcile();
    expect(await readdir(join(stage.home, 'processes'))).toEqual([]);
    await isLost();
    expect((await task('cancel', id)).stdout).toBe(`Task ${id} had ended already: lost\n`);
  });

  it('is told of to its end when the worker is asked to end', async () => {
    const { worker } = await worksOn(runs(TICKS), sleeps('Done.'));
    const { id } = await taskOf(worker.process.pid);
    const follower = begin('task', 'logs', id, '--follow');
    await until('a line', () => follower.stdout().includes('tick 1'));
    await interruptedAgainAndAgain(worker);
    expect((await follower.ended).code).toBe(1);
    expect((await listed()).filter(({ status }) => status === 'running')).toEqual([]);
  });
});

describe.skipIf(!hasTmux)('at a terminal', () => {
  const terminals: Tmux[] = [];
  afterEach(async () => {
    for (const each of terminals.splice(0)) await each.close();
  });

  it('what is typed goes to the task, Ctrl-C leaves it, and Ctrl-D ends its input', async () => {
    const owner = await startTaskOwner(stage.home, [
      'while read -r line; do echo "got $line"; done; echo over; exit 4',
    ]);
    owners.push(owner);
    const { id } = await taskOf(owner.pid);
    const terminal = await Tmux.open({ columns: 110 });
    terminals.push(terminal);
    await terminal.run('task', 'attach', id, '--home', stage.home);
    await terminal.shows('What you type goes to it');
    await terminal.line('one');
    await terminal.shows('got one');
    await terminal.keys('C-c');
    await terminal.shows(/detached; task \S+ goes on/);
    expect(await listed()).toMatchObject([{ id, status: 'running' }]);
    await terminal.run('task', 'attach', id, '--home', stage.home);
    await terminal.shows('What you type goes to it');
    await terminal.line('two');
    await terminal.shows('got two');
    await terminal.keys('C-d');
    await terminal.shows(/over\ntask \S+: exit code 4/);
    await terminal.line('echo "code $?"');
    await terminal.shows('code 4');
  });
});
