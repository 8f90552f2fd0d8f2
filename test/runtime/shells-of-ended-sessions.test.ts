/** The shells that a process keeps for sessions which another process ends: real processes on both sides. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { records, start, until } from '../cli/command-line.ts';
import type { RunningCommand } from '../cli/command-line.ts';
import { isAlive, pidsIn } from '../cli/processes.ts';
import { Stage, sleeps } from '../cli/stage.ts';
import type { StagedSession, Step } from '../cli/stage.ts';

let stage: Stage;
const started: RunningCommand[] = [];
beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(async () => {
  for (const { process: child } of started) child.kill('SIGTERM');
  await Promise.all(started.splice(0).map(({ ended }) => ended));
  await stage.close();
});

const begin = (...words: readonly string[]): RunningCommand => {
  const command = start([...words, '--home', stage.home]);
  started.push(command);
  return command;
};

/** Names itself, something in the background and a daemon in the file `pids`. */
const FAMILY = `MARK=old; echo $$ >> pids; sleep 300 & echo $! >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 300' & while [ "$(wc -l < pids)" -lt 3 ]; do sleep 0.01; done`;

const execs = (command: string): Step => ({ toolCalls: [{ name: 'shell_exec', input: { command } }] });
const familyOf = ({ workspace }: StagedSession): Promise<readonly number[]> =>
  until('the shell', () => pidsIn(join(workspace, 'pids')).length === 3 && pidsIn(join(workspace, 'pids')));
const areGone = (pids: readonly number[]): Promise<unknown> => until('the end of the shell', () => !pids.some(isAlive));
const hasSlept = ({ id }: StagedSession, wakes = 1): Promise<unknown> =>
  until('the end of the wake', async () => (await stage.wakeEndings(id)).length === wakes);

/** A session at rest, with an open shell in a worker. */
async function resting(
  ...more: readonly Step[]
): Promise<{ readonly session: StagedSession; readonly pids: readonly number[] }> {
  const session = await stage.sessionToWake(execs(FAMILY), sleeps('Resting.'), ...more);
  const pids = await familyOf(session);
  await hasSlept(session);
  expect(pids.every(isAlive)).toBe(true);
  return { session, pids };
}

const resultsOf = async ({ id }: StagedSession): Promise<unknown[]> =>
  (await stage.eventsOf(id)).flatMap((event) => (event.type === 'agent.tool_result' ? [event.data] : []));

describe('a shell in a worker', () => {
  it('ends with all that runs in it when another process terminates its session, and no other shell does', async () => {
    begin('worker', '--json');
    const { session, pids } = await resting();
    const bystander = await resting();
    expect(await stage.runProgram('session', 'terminate', '--session', session.id)).toMatchObject({ code: 0 });
    await areGone(pids);
    expect(bystander.pids.every(isAlive)).toBe(true);
    // Once more, and it is deleted: nothing is left to be ended.
    expect(await stage.runProgram('session', 'terminate', '--session', session.id)).toMatchObject({ code: 0 });
    expect(await stage.runProgram('session', 'delete', '--session', session.id, '--yes')).toMatchObject({ code: 0 });
    expect(bystander.pids.every(isAlive)).toBe(true);
  });

  it('ends when another process deletes its session', async () => {
    begin('worker', '--json');
    const { session, pids } = await resting();
    expect(await stage.runProgram('session', 'delete', '--session', session.id, '--yes')).toMatchObject({ code: 0 });
    await areGone(pids);
  });

  it('does not serve a session that was brought back under the same id', async () => {
    begin('worker', '--json');
    const { session, pids } = await resting(execs('echo "mark: ${MARK-none}"'), sleeps('Back.'));
    const file = join(stage.home, 'exported.jsonl');
    await writeFile(file, (await stage.run('session', 'export', '--session', session.id)).stdout);
    expect(await stage.runProgram('session', 'delete', '--session', session.id, '--yes')).toMatchObject({ code: 0 });
    expect(await stage.runProgram('session', 'import', file)).toMatchObject({ code: 0 });
    await stage.runProgram('session', 'send', '--session', session.id, '--message', 'Again.');
    await hasSlept(session, 2);
    const [result] = (await resultsOf(session)).slice(-1);
    expect(JSON.stringify(result)).toContain('mark: none');
    expect(JSON.stringify(result)).toContain('opened');
    await areGone(pids);
  });
});

describe('a process that runs one wake', () => {
  it('stops the command in its shell when another process terminates the session, and ends everything', async () => {
    const session = await stage.sessionToWake(
      execs(`${FAMILY}; echo reached > reached; sleep 300; echo no > after`),
      sleeps('Went on.'),
    );
    const wake = begin('wake', '--session', session.id, '--json');
    const pids = await familyOf(session);
    expect(await stage.runProgram('session', 'terminate', '--session', session.id)).toMatchObject({ code: 0 });
    const { code, stdout } = await wake.ended;
    expect(code).toBe(1);
    expect(JSON.stringify(records(stdout).at(-1))).toContain('terminated');
    expect(pids.some(isAlive)).toBe(false);
    expect(await resultsOf(session)).toHaveLength(1);
    expect((await stage.eventsOf(session.id)).filter(({ type }) => type === 'agent.tool_use')).toHaveLength(1);
  });
});
