import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { start } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(() => stage.close());

const idsLeft = async (): Promise<readonly string[]> =>
  (await stage.runtime.sessions.list()).map(({ sessionId }) => sessionId);
const idsOf = (states: readonly SessionState[]): readonly string[] => states.map(({ sessionId }) => sessionId);

describe('sessions that rest', () => {
  it('go when nothing is to do, to answer or to wait for, and only then', async () => {
    const rests = await stage.sessionToWake(sleeps('Done.'));
    const plans = await stage.sessionToWake(sleeps('Later.', { queuedWakes: [{ reason: 'x', delaySeconds: 9_999 }] }));
    const asks = await stage.sessionToWake(sleeps('Waits.', { customToolRequest: { name: 'pick', input: {} } }));
    for (const { id } of [rests, plans, asks]) await stage.runtime.wake(id).catch(() => undefined);
    const unread = await stage.sessionToWake(sleeps('Not begun.'));
    const dry = await stage.runtime.sessions.prune({ idleForMs: 0, isDryRun: true });
    expect(idsOf(dry.pruned)).toEqual([rests.id]);
    expect(await idsLeft()).toHaveLength(4);
    expect((await stage.runtime.sessions.prune({ idleForMs: 60_000 })).pruned).toEqual([]);
    expect(await stage.runtime.sessions.prune({ idleForMs: 0 })).toMatchObject({
      pruned: [{ sessionId: rests.id }],
      left: [],
    });
    expect(await idsLeft()).toEqual(expect.arrayContaining([plans.id, asks.id, unread.id]));
    expect(await idsLeft()).toHaveLength(3);
  });

  it('go with their children, or stay with them', async () => {
    const parent = await stage.session(sleeps('Parent.'));
    const { agentId } = await stage.runtime.sessions.status(parent.id);
    const child = await stage.runtime.sessions.create({ agentId, parentSessionId: parent.id });
    await stage.runtime.sessions.send(child.sessionId, { type: 'user.message', text: 'Work.' });
    expect((await stage.runtime.sessions.prune({ idleForMs: 0 })).pruned).toEqual([]);
    await stage.runtime.wake(child.sessionId);
    await stage.runtime.startWorker({ untilIdle: true }).ended;
    const { pruned, left } = await stage.runtime.sessions.prune({ idleForMs: 0 });
    expect({ pruned: idsOf(pruned), left }).toEqual({ pruned: [parent.id, child.sessionId], left: [] });
    expect(await idsLeft()).toEqual([]);
  });

  it('stay when something is said to them meanwhile, and have lost nothing', async () => {
    const { id } = await stage.session(sleeps('Done.'));
    const report = await stage.runtime.sessions.prune({
      idleForMs: 0,
      keep: async () => {
        await stage.runtime.sessions.send(id, { type: 'user.message', text: 'Wait!' });
        return undefined;
      },
    });
    expect(report).toMatchObject({ pruned: [], left: [{ sessionId: id }] });
    expect(await stage.runtime.sessions.status(id)).toMatchObject({ status: 'idle', pending: [{}] });
  });

  it('refuse an age that is none', async () => {
    await expect(stage.runtime.sessions.prune({ idleForMs: -1 })).rejects.toMatchObject({
      code: 'SESSION_REQUEST_INVALID',
    });
  });
});

describe('wakechart store prune', () => {
  it('wants to know what is to go, and where the exports are to go to', async () => {
    for (const words of [[], ['--no-export'], ['--ended-before', '1d'], ['--idle-before', '1d', '--with-files']])
      expect(await stage.run('store', 'prune', ...words)).toMatchObject({ code: 2, stdout: '' });
  });

  it('leaves a session that a schedule sends to, and one with files unless it is told otherwise', async () => {
    const scheduled = await stage.session(sleeps('Done.'));
    const files = await stage.session(sleeps('Done.'));
    await writeFile(join(files.workspace, 'result.txt'), 'kept');
    const added = await stage.run(
      ...['schedule', 'add', '--id', 'daily', '--cron', '0 9 * * *', '--session', scheduled.id, '--message', 'Begin.'],
    );
    expect(added).toMatchObject({ code: 0 });
    const words = ['store', 'prune', '--idle-before', '0m', '--no-export'];
    const why = /a schedule sends to it[^]*its workspace holds files/;
    const dry = await stage.run(...words);
    expect(dry).toMatchObject({ code: 0, stderr: expect.stringMatching(why) as string });
    expect(dry.stdout).toContain('0 sessions');
    const { wouldPrune, wouldLeave } = JSON.parse((await stage.run(...words, '--json')).stdout) as {
      readonly wouldPrune: readonly object[];
      readonly wouldLeave: readonly { readonly sessionId: string }[];
    };
    expect(wouldPrune).toEqual([]);
    expect(wouldLeave.map(({ sessionId }) => sessionId)).toEqual([scheduled.id, files.id]);
    // That they are needed is no failure: a timer would report it day after day.
    expect(await stage.run(...words, '--yes')).toMatchObject({ code: 0, stderr: expect.stringMatching(why) as string });
    expect(await idsLeft()).toHaveLength(2);
    await stage.run(...words, '--with-files', '--yes');
    expect(await idsLeft()).toEqual([scheduled.id]);
  });

  it('fails where an export cannot be written, and keeps that session', async () => {
    const { id } = await stage.session(sleeps('Done.'));
    const archive = join(stage.home, 'archive');
    await mkdir(join(archive, `${id}.jsonl`), { recursive: true });
    const words = ['store', 'prune', '--idle-before', '0m', '--export-to', archive, '--yes'];
    expect(await stage.run(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining(id) as string });
    expect(await idsLeft()).toEqual([id]);
  });

  it('removes old logs of tasks, and none of a task that runs', async () => {
    const { id } = await stage.sessionToWake(runs('echo hello'), sleeps('Done.'));
    await stage.runtime.wake(id);
    const folder = join(stage.home, 'task-logs');
    const [log = ''] = await readdir(folder);
    expect(log).not.toBe('');
    const words = ['store', 'prune', '--task-logs-before', '30d'];
    expect((await stage.run(...words, '--yes')).code).toBe(0);
    expect(await readdir(folder)).toEqual([log]);
    const long = new Date(Date.now() - 40 * 86_400_000);
    await utimes(join(folder, log), long, long);
    expect(await stage.run(...words)).toMatchObject({
      stdout: expect.stringContaining('1 log file of tasks') as string,
    });
    expect(await readdir(folder)).toEqual([log]);
    expect((await stage.run(...words, '--yes')).code).toBe(0);
    expect(await readdir(folder)).toEqual([]);
  });

  it('killed at any moment leaves whole sessions, and run again goes on', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => stage.session(sleeps('Done.'))));
    const archive = join(stage.home, 'archive');
    const words = ['store', 'prune', '--idle-before', '0m', '--ended-before', '0m', '--export-to', archive, '--yes'];
    const prune = start([...words, '--home', stage.home]);
    await expect
      .poll(
        () =>
          readdir(archive).then(
            ({ length }) => length,
            () => 0,
          ),
        { timeout: 30_000, interval: 5 },
      )
      .toBeGreaterThan(1);
    prune.process.kill('SIGKILL');
    await prune.ended;
    // As if it had died while it took the files of one away.
    const cut = join(stage.home, 'agents', 'actor-1', 'sessions', '.deleted-cut');
    await mkdir(join(cut, 'workspace'), { recursive: true });
    const before = await stage.run('doctor', '--json');
    expect(before).toMatchObject({ code: 0 });
    expect(await stage.run(...words)).toMatchObject({ code: 0 });
    expect(await stage.run('session', 'list', '--json')).toMatchObject({
      stdout: expect.stringMatching(/"sessions": \[\]/) as string,
    });
    expect((await readdir(archive)).toSorted()).toEqual(made.map(({ id }) => `${id}.jsonl`).toSorted());
    await expect(stat(cut)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await stage.run('doctor', '--json')).toMatchObject({ code: 0 });
  });
});
