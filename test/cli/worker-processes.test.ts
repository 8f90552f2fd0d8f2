import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workerEnding } from '../../src/cli/worker/view.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { records, start, until } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { isAlive, pidsIn } from './processes.ts';
import { Stage, runs, sleeps } from './stage.ts';

interface News {
  readonly type?: string;
  readonly sessionId?: string;
  readonly summary?: { readonly endedBecause: string; readonly counts: Readonly<Record<string, number>> };
  readonly cutOff?: { readonly wakes: number; readonly commands: number };
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

let stage: Stage;
const workers: RunningCommand[] = [];

beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(async () => {
  for (const { process: child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.splice(0).map(({ ended }) => ended));
  await stage.close();
});

const work = (...words: readonly string[]): RunningCommand => {
  const worker = start(['worker', '--json', ...words, '--home', stage.home]);
  workers.push(worker);
  return worker;
};
const newsOf = (worker: RunningCommand): News[] => records(worker.stdout().replace(/[^\n]*$/, '')) as News[];
const isIdle = (worker: RunningCommand): Promise<unknown> =>
  until('a worker to rest', () => newsOf(worker).at(-1)?.type === 'idle');
const typesOf = (events: readonly SessionEvent[], type: SessionEvent['type']): SessionEvent[] =>
  events.filter((event) => event.type === type);
const pidOf = (path: string): Promise<string | false> =>
  readFile(path, 'utf8').then(
    (text) => text.includes('\n') && text,
    () => false,
  );

describe('wakechart worker', () => {
  it('wakes what is due, says so line by line, and with --until-idle ends then', async () => {
    const { id } = await stage.sessionToWake(runs('echo done > result'), sleeps('Looked around.'));
    const { code, stdout, stderr } = await stage.runProgram('worker', '--until-idle');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(new RegExp(`^${TIME} wakes +actor-1 ${id}  a message`));
    expect(lines[1]).toMatch(new RegExp(`^${TIME} sleep +actor-1 ${id}  Looked around\\. `));
    expect(lines.at(-1)).toMatch(/^\S+Z Nothing is due\. 1 wake went well, 0 failed\.$/);
    expect(await stage.wakeEndings(id)).toEqual(['sleep']);
    expect(await stage.run('worker', '--until-idle')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Z Nothing is due\. 0 wakes went well, 0 failed\.\n$/) as string,
    });
  });

  it('exits with 1 when a wake failed, and shows why', async () => {
    await stage.sessionToWake({ error: { kind: 'auth', message: 'no such key' } });
    const { code, stdout } = await stage.run('worker', '--until-idle');
    expect(code).toBe(1);
    expect(stdout).toMatch(/Z failed .*no such key.* \[RUN_FAILED\]$/m);
  });

  it.each([
    [['--concurrency', '0'], 2, /whole number from 1/],
    [['--agent', 'No/Such'], 2, /name of an agent/],
    [['--agent', 'nobody'], 1, /nobody/],
    [['--forever'], 2, /unknown option/],
  ])('refuses %j', async (words, code, text) => {
    const ended = await stage.run('worker', '--until-idle', ...words);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(text);
  });

  it('is told of a message that another process sends, and wakes its session without delay', async () => {
    const { id } = await stage.session(sleeps('Heard it.'));
    const worker = work();
    await isIdle(worker);
    const sent = await stage.runProgram('session', 'send', '--session', id, '--message', 'Now.', '--json');
    expect(sent.code).toBe(0);
    await until('the answer', async () => (await stage.wakeEndings(id)).length === 1);
    const events = await stage.eventsOf(id);
    const [message] = typesOf(events, 'user.message');
    const [begun] = typesOf(events, 'wake.started');
    // Far below the rest that it takes when nobody tells it.
    expect(Date.parse(begun?.at ?? '') - Date.parse(message?.at ?? '')).toBeLessThan(10_000);
  });

  it('fires a queued wake that came due while no worker ran', async () => {
    const { id } = await stage.sessionToWake(
      sleeps('First.', { queuedWakes: [{ reason: 'later', delaySeconds: 1 }] }),
      sleeps('Second.'),
    );
    const { code } = await stage.run('worker', '--until-idle');
    expect(code).toBe(0);
    expect(await stage.wakeEndings(id)).toEqual(['sleep']);
    const worker = work();
    await until('the second wake', async () => (await stage.wakeEndings(id)).length === 2);
    await isIdle(worker);
    const [queued] = typesOf(await stage.eventsOf(id), 'wake.queued');
    const [, second] = typesOf(await stage.eventsOf(id), 'wake.started');
    expect(
      queued?.type === 'wake.queued' && second !== undefined && Date.parse(second.at) >= Date.parse(queued.data.dueAt),
    ).toBe(true);
  });

  it('lets a wake end when it is asked to stop, and exits as interrupted', async () => {
    const { id, workspace } = await stage.sessionToWake(
      runs('echo $$ > begun; while [ ! -e go ]; do sleep 0.02; done'),
      sleeps('To the end.'),
    );
    const other = await stage.session(sleeps('Not begun.'));
    const worker = work();
    await until('the command', () => pidOf(join(workspace, 'begun')));
    worker.process.kill('SIGTERM');
    await until('its note', () =>
      worker.stderr().includes('waits up to 30 s for 1 wake to end; interrupt again to stop at once'),
    );
    await stage.runtime.sessions.send(other.id, { type: 'user.message', text: 'Too late.' });
    await writeFile(join(workspace, 'go'), '');
    expect(await worker.ended).toMatchObject({ code: 143 });
    expect(newsOf(worker).at(-1)).toMatchObject({
      summary: { endedBecause: 'stopped', counts: { succeeded: 1 } },
      cutOff: { wakes: 0, commands: 0 },
    });
    expect(await stage.wakeEndings(id)).toEqual(['sleep']);
    // What it did not take is there for the next.
    expect(await stage.wakeEndings(other.id)).toEqual([]);
    expect((await stage.run('worker', '--until-idle')).code).toBe(0);
    expect(await stage.wakeEndings(other.id)).toEqual(['sleep']);
  });

  it('stops a wake at the second signal, and says so in its log', async () => {
    const { id, workspace } = await stage.sessionToWake(runs('echo $$ > begun; exec sleep 300'), sleeps('Went on.'));
    const worker = work();
    await until('the command', () => pidOf(join(workspace, 'begun')));
    worker.process.kill('SIGTERM');
    await until('its note', () => worker.stderr().includes('waits up to'));
    worker.process.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 143 });
    expect(newsOf(worker).at(-1)).toMatchObject({
      summary: { endedBecause: 'forced', counts: { aborted: 1 } },
      cutOff: { wakes: 1, commands: 0 },
    });
    expect(await stage.wakeEndings(id)).toEqual(['aborted']);
    expect(typesOf(await stage.eventsOf(id), 'agent.tool_use')).toHaveLength(
      typesOf(await stage.eventsOf(id), 'agent.tool_result').length,
    );
  });
});

describe('the last line of a worker', () => {
  const counts = { begun: 3, succeeded: 2, failed: 0, nothingToDo: 0, contended: 0, aborted: 0 };
  const ended = { lateness: { lastMs: 0, meanMs: 0, maxMs: 0 }, setAside: [] };

  it('tells what was cut off, and whether its time was over', () => {
    const forced = { ...ended, endedBecause: 'forced', counts: { ...counts, aborted: 1 } } as const;
    expect(workerEnding(forced, { commands: 0, afterMs: undefined })).toBe(
      'Stopped at once: 1 wake was cut off. 2 wakes went well, 0 failed.',
    );
    expect(workerEnding(forced, { commands: 2, afterMs: 30_000 })).toBe(
      'Stopped after 30 s: 1 wake and 2 commands were cut off. 2 wakes went well, 0 failed.',
    );
    expect(workerEnding({ ...ended, endedBecause: 'stopped', counts }, { commands: 1, afterMs: 30_000 })).toBe(
      'Stopped after 30 s: 1 command was cut off. 2 wakes went well, 0 failed.',
    );
    expect(workerEnding({ ...ended, endedBecause: 'stopped', counts }, { commands: 0, afterMs: 30_000 })).toBe(
      'Stopped. 2 wakes went well, 0 failed.',
    );
  });

  it('does not count to its end what was stopped before it', () => {
    const stopped = { ...ended, endedBecause: 'stopped', counts: { ...counts, aborted: 3 } } as const;
    expect(workerEnding(stopped, { commands: 0, afterMs: 30_000 })).toBe(
      'Stopped. 2 wakes went well, 0 failed, 3 stopped before.',
    );
  });
});

describe('a worker that fires schedules', () => {
  const schedule = (id: string, command: string): Promise<unknown> =>
    runInProcess([
      'schedule',
      'add',
      '--home',
      stage.home,
      '--id',
      id,
      '--cron',
      '* * * * * *',
      '--cwd',
      stage.home,
      '--',
      command,
    ]);
  const linesOf = (name: string): Promise<string[]> =>
    readFile(join(stage.home, name), 'utf8').then(
      (text) => text.trim().split('\n'),
      () => [],
    );
  const firedOf = async (id: string): Promise<number> =>
    (
      JSON.parse((await stage.run('schedule', 'show', id, '--json')).stdout) as {
        readonly state: { readonly runs: number };
      }
    ).state.runs;

  it('starts no command any more once it is asked to stop, and lets those that run end', async () => {
    await schedule('long', 'echo begun >> long; while [ ! -e go ]; do sleep 0.02; done; echo ended >> long');
    await schedule('often', 'echo tick >> often');
    const worker = work();
    await until('both commands', async () => (await linesOf('long')).length > 0 && (await linesOf('often')).length > 0);
    worker.process.kill('SIGTERM');
    await until('its note', () => /waits up to 30 s for [12] commands? to end/.test(worker.stderr()));
    // Those that it fired before it was told may still write; then the time of two slots goes by.
    const toldMs = Date.now();
    await until('another slot', () => Date.now() - toldMs > 500);
    const fired = await firedOf('often');
    await until('two slots', () => Date.now() - toldMs > 2_500);
    expect(await firedOf('often')).toBe(fired);
    await writeFile(join(stage.home, 'go'), '');
    expect(await worker.ended).toMatchObject({ code: 143 });
    expect(await linesOf('long')).toEqual(['begun', 'ended']);
    const { stdout } = await stage.run('schedule', 'show', 'long', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ state: { runs: 1, lastRun: { outcome: 'completed' } } });
  });

  it('ends its commands at the second signal', async () => {
    await schedule('long', 'echo $$ >> long; exec sleep 300');
    const worker = work();
    await until('the command', async () => (await linesOf('long')).length > 0);
    worker.process.kill('SIGTERM');
    await until('its note', () => worker.stderr().includes('waits up to 30 s for 1 command to end'));
    worker.process.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 143 });
    expect(newsOf(worker).at(-1)).toMatchObject({ cutOff: { wakes: 0, commands: 1 } });
    expect(pidsIn(join(stage.home, 'long')).filter(isAlive)).toEqual([]);
  });
});

describe('two workers on one home', () => {
  it('answer each message of many sessions exactly once', async () => {
    const count = 120;
    const { id } = await stage.session(sleeps('Answered.'));
    const ids = [id];
    while (ids.length < count) ids.push((await stage.runtime.sessions.create({ agentId: 'actor-1' })).sessionId);
    for (const each of ids.slice(0, count / 2))
      await stage.runtime.sessions.send(each, { type: 'user.message', text: 'Before.' });
    const both = [work('--concurrency', '4'), work('--concurrency', '4')];
    for (const each of ids.slice(count / 2))
      await stage.runtime.sessions.send(each, { type: 'user.message', text: 'Meanwhile.' });
    const sleptOf = (worker: RunningCommand): number => worker.stdout().split('"type":"slept"').length - 1;
    await until('all to be read', () => both.reduce((sum, worker) => sum + sleptOf(worker), 0) >= count, 100_000);
    for (const worker of both) worker.process.kill('SIGTERM');
    await Promise.all(both.map(({ ended }) => ended));
    for (const each of ids) {
      const events = await stage.eventsOf(each);
      expect(typesOf(events, 'message.consumed')).toHaveLength(1);
      expect(typesOf(events, 'wake.ended')).toHaveLength(1);
    }
    const slept = both.map(sleptOf);
    expect(slept[0] ?? 0).toBeGreaterThan(0);
    expect((slept[0] ?? 0) + (slept[1] ?? 0)).toBe(count);
  }, 120_000);

  it('take over from each other when one is killed in the middle of a wake', async () => {
    const { id, workspace } = await stage.sessionToWake(runs('echo $$ >> runs; exec sleep 300'), sleeps('Took over.'));
    const first = work();
    await until('the command', () => pidOf(join(workspace, 'runs')));
    const second = work();
    await until('the second one to have tried', () => newsOf(second).some(({ type }) => type === 'contended'));
    first.process.kill('SIGKILL');
    await until('the other to end it', async () => (await stage.wakeEndings(id)).at(-1) === 'sleep');
    expect(await stage.wakeEndings(id)).toEqual(['lost', 'sleep']);
    expect((await readFile(join(workspace, 'runs'), 'utf8')).trim().split('\n')).toHaveLength(1);
  });
});
