/** What a killed host leaves, and what the next one makes of it: with real hosts, really killed. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { ProcessTree } from '../../../src/actors/task/process-tree.ts';
import { launchIn } from '../../../src/adapters/process-tree/launch.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { readStat } from '../../../src/adapters/process-tree/proc-table.ts';
import {
  eventually,
  fixturePath,
  isRunning,
  parentOf,
  pidFrom,
  processesWith,
  startCommand,
  startIn,
} from './system-processes.ts';

const dist = new URL('../../../dist/', import.meta.url).href;

describe('a host killed at any moment of a start', () => {
  it('leaves nothing that the next one does not end', async () => {
    const home = await mkdtemp(join(tmpdir(), 'moments-'));
    const command = 'setsid sleep 1000 >/dev/null 2>&1 & ( setsid sh -c "sleep 1000 & exit" & ); sleep 1000';
    // Some come before the record, some between the record and the process, some after: where exactly depends on the
    // machine.
    const moments = Array.from({ length: 10 }, (_, index) => 40 + index * 45);
    for (const moment of moments) {
      const directory = join(home, String(moment));
      await mkdir(directory);
      const environment = { ...process.env, PROBE: directory, TMPDIR: directory };
      const host = spawn(process.execPath, [fixturePath('host.mjs'), dist, directory, command], {
        stdio: 'ignore',
        env: environment,
      });
      const closed = once(host, 'close');
      await new Promise((resolve) => setTimeout(resolve, moment));
      host.kill('SIGKILL');
      await closed;
      for (const report of await createProcessTree({
        clock: createSystemClock(),
        directory: join(directory, 'processes'),
      }).reconcile()) {
        expect(['killed', 'gone']).toContain(report.action);
      }
      expect(processesWith(`PROBE=${directory}`)).toEqual([]);
    }
    await rm(home, { recursive: true });
  });
});

describe('a process without environment, session, output and parents', () => {
  it('is ended by the next start after its host was killed', async () => {
    const home = await mkdtemp(join(tmpdir(), 'hidden-'));
    const pidFile = join(home, 'hidden.pid');
    const host = spawn(
      process.execPath,
      [fixturePath('host.mjs'), dist, home, `sh ${fixturePath('hide.sh')} ${pidFile} 0.1; exec sleep 1000`],
      { stdio: 'ignore' },
    );
    const hidden = await pidFrom(pidFile);
    await eventually(() => parentOf(hidden) === 1, 'its parents have left');
    const closed = once(host, 'close');
    host.kill('SIGKILL');
    await closed;
    expect(isRunning(hidden)).toBe(true);
    expect(
      await createProcessTree({ clock: createSystemClock(), directory: join(home, 'processes') }).reconcile(),
    ).toMatchObject([{ action: 'killed' }]);
    expect(isRunning(hidden)).toBe(false);
    await rm(home, { recursive: true });
  });

  it('is ended by its host when that is asked to end, before it has ended', async () => {
    const home = await mkdtemp(join(tmpdir(), 'hidden-'));
    const pidFile = join(home, 'hidden.pid');
    const main = fileURLToPath(new URL('cli/main.js', dist));
    const host = spawn(
      process.execPath,
      [main, 'task', 'run', '--home', home, '--', `sh ${fixturePath('hide.sh')} ${pidFile} 0.1; exec sleep 1000`],
      { stdio: 'ignore', cwd: home },
    );
    const hidden = await pidFrom(pidFile);
    await eventually(() => parentOf(hidden) === 1, 'its parents have left');
    const closed = once(host, 'close');
    host.kill('SIGTERM');
    expect(await closed).toEqual([143, null]);
    expect(isRunning(hidden)).toBe(false);
    await rm(home, { recursive: true });
  });
});

describe('a host in a tree of another, without its environment', () => {
  it('does not end that tree, in which it runs itself', async () => {
    const home = await mkdtemp(join(tmpdir(), 'around-'));
    const directory = join(home, 'processes');
    const { tag } = await createProcessTree({ clock: createSystemClock(), directory }).prepare({
      taskId: 'task_9',
      commandPreview: '',
    });
    const record = JSON.parse(await readFile(join(directory, `${tag}.json`), 'utf8')) as { host: object };
    await writeFile(
      join(directory, `${tag}.json`),
      JSON.stringify({ ...record, host: { ...record.host, pid: 999_999, startTime: 1 } }),
    );
    const [trees, clock] = ['adapters/process-tree/process-tree.js', 'actors/clock/system-clock.js'].map(
      (name) => new URL(name, dist).href,
    );
    const script = `import { createProcessTree } from '${trees}'; import { createSystemClock } from '${clock}'; console.log(JSON.stringify(await createProcessTree({ clock: createSystemClock(), directory: '${directory}' }).reconcile()));`;
    const { program, args, environment } = launchIn(tag, {
      program: 'env',
      args: ['-u', 'WAKECHART_TASK', process.execPath, '--input-type=module', '-e', script],
      cwd: home,
      environment: process.env,
    });
    const { stdout } = await promisify(execFile)(program, [...args], { cwd: home, env: environment });
    expect(JSON.parse(stdout)).toMatchObject([{ tag, action: 'left', reason: 'around_this_host' }]);
    await rm(home, { recursive: true });
  });
});

describe.each(['proc', 'ps'] as const)('reconciling through %s', (scan) => {
  let home: string;
  let directory: string;
  let hosts: ChildProcess[];

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'home-'));
    directory = join(home, 'processes');
    hosts = [];
  });
  afterEach(async () => {
    for (const host of hosts) await kill(host);
    await rm(home, { recursive: true, force: true });
  });

  const open = (): ProcessTree => createProcessTree({ clock: createSystemClock(), directory, scan });
  const files = async (): Promise<string[]> => (await readdir(directory)).sort();
  const kill = async (host: ChildProcess): Promise<void> => {
    if (host.exitCode !== null || host.signalCode !== null) return;
    const closed = once(host, 'close');
    host.kill('SIGKILL');
    await closed;
  };

  /** A host in a process of its own, running `command` as its task; resolves when the task runs. */
  async function startHost(command: string): Promise<{ host: ChildProcess; pid: number; tag: string }> {
    const host = spawn(process.execPath, [fixturePath('host.mjs'), dist, home, command, scan], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    hosts.push(host);
    if (host.stdout === null) throw new Error('the host has no output');
    const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
    const { pid } = JSON.parse(line) as { pid: number };
    const [name = ''] = (await files()).filter((file) => file.endsWith('.json'));
    return { host, pid, tag: name.replace('.json', '') };
  }

  it('ends what a killed host left, daemons included, and clears its record', async () => {
    const pidFile = join(home, 'daemon.pid');
    const { host, pid, tag } = await startHost(`sh ${fixturePath('daemonize.sh')} ${pidFile}; exec sleep 1000`);
    const daemon = await pidFrom(pidFile);
    await kill(host);
    expect(isRunning(pid) && isRunning(daemon)).toBe(true);
    expect(await open().reconcile()).toMatchObject([{ tag, taskId: 'task_1', pid, action: 'killed', survivors: [] }]);
    expect(isRunning(pid) || isRunning(daemon)).toBe(false);
    expect(await files()).toEqual([]);
    expect(await open().reconcile()).toEqual([]);
  });

  it('leaves the work of a living host alone', async () => {
    const { host, pid, tag } = await startHost('exec sleep 1000');
    expect(await open().reconcile()).toMatchObject([
      { tag, taskId: 'task_1', pid, action: 'left', reason: 'host_alive', survivors: [] },
    ]);
    expect(isRunning(pid)).toBe(true);
    expect(await files()).toEqual([`${tag}.json`]);
    await kill(host);
    await open().reconcile();
  });

  it('leaves its own work alone', async () => {
    const trees = open();
    const tree = await trees.prepare({ taskId: 'mine', commandPreview: '' });
    const { pid } = startIn(tree, 'exec sleep 1000');
    await tree.attach(pid);
    expect(await trees.reconcile()).toMatchObject([{ taskId: 'mine', action: 'left', reason: 'host_alive' }]);
    expect(isRunning(pid)).toBe(true);
    await tree.end();
  });

  it('finds a tree whose host died before it knew the root', async () => {
    const { host, pid, tag } = await startHost('exec sleep 1000');
    await kill(host);
    const path = join(directory, `${tag}.json`);
    const record = JSON.parse(await readFile(path, 'utf8')) as {
      root?: unknown;
      startedSince: number;
      host: { startTime: number };
    };
    delete record.root;
    await writeFile(path, JSON.stringify({ ...record, startedSince: record.host.startTime }));
    expect(await open().reconcile()).toMatchObject([
      { tag, taskId: 'task_1', pid: undefined, action: 'killed', survivors: [] },
    ]);
    expect(isRunning(pid)).toBe(false);
  });

  it('kills survivors that ignore SIGTERM after the grace it was given', async () => {
    const { host, pid } = await startHost("trap '' TERM; while :; do sleep 0.01; done");
    await kill(host);
    expect(await open().reconcile({ graceMs: 1 })).toMatchObject([{ action: 'killed' }]);
    expect(isRunning(pid)).toBe(false);
  });

  it('only clears the record away when nothing is left', async () => {
    const { host, tag } = await startHost('exec sleep 1000 & exit');
    await kill(host);
    // Whether the host got to end it first or not: a record remains only if it did not.
    for (const report of await open().reconcile()) expect(['killed', 'gone']).toContain(report.action);
    await writeFile(
      join(directory, `${tag}.json`),
      recordOf(tag, { host: { pid: 999_999, startTime: 1, boot: 'another boot', seenThrough: scan } }),
    );
    expect(await open().reconcile()).toMatchObject([{ tag, taskId: 'task_9', pid: 1, action: 'gone', survivors: [] }]);
    expect(await files()).toEqual([]);
  });

  it('does not take a process for a survivor that only has its pid', async () => {
    const innocent = startCommand('exec sleep 1000', {});
    const boot = await currentBoot(directory);
    const root = { pid: innocent.pid, startTime: 12 };
    await writeFile(
      join(directory, 'tag-1.json'),
      recordOf('tag-1', {
        host: { pid: innocent.pid, startTime: 11, boot, seenThrough: scan },
        root,
        startedSince: 12,
      }),
    );
    expect(await open().reconcile()).toMatchObject([{ tag: 'tag-1', action: 'gone' }]);
    expect(isRunning(innocent.pid)).toBe(true);
    innocent.kill('SIGKILL');
    await once(innocent, 'close');
  });

  it("adopts survivors: they live on as this host's own, until it ends them", async () => {
    const { host, pid, tag } = await startHost('exec sleep 1000');
    await kill(host);
    const trees = open();
    const [report] = await trees.reconcile({ policy: 'adopt' });
    expect(report).toMatchObject({ tag, taskId: 'task_1', pid, action: 'adopted' });
    expect(report?.survivors.map((survivor) => survivor.pid)).toEqual([pid]);
    expect(isRunning(pid)).toBe(true);
    // On record under the new host, so that nobody else takes it.
    expect(await open().reconcile()).toMatchObject([{ tag, action: 'left', reason: 'host_alive' }]);
    expect(await trees.adopted(tag)?.end()).toEqual({ ended: 1 });
    expect(isRunning(pid)).toBe(false);
    expect(await files()).toEqual([]);
    expect(trees.adopted('another')).toBeUndefined();
  });

  it('is done once for each record, however many hosts do it at once', async () => {
    const { host, pid, tag } = await startHost('exec sleep 1000');
    await kill(host);
    const reports = (await Promise.all([open().reconcile(), open().reconcile(), open().reconcile()])).flat();
    expect(reports.filter(({ action }) => action === 'killed')).toMatchObject([{ tag }]);
    expect(reports.filter(({ action, reason }) => action !== 'killed' && reason !== 'being_reconciled')).toEqual([]);
    expect(isRunning(pid)).toBe(false);
    expect(await files()).toEqual([]);
  });

  it('finishes what a host began to reconcile and did not live to end', async () => {
    const { host, pid, tag } = await startHost('exec sleep 1000');
    await kill(host);
    await rename(join(directory, `${tag}.json`), join(directory, `${tag}.999999-17.claim`));
    expect(await open().reconcile()).toMatchObject([{ tag, action: 'killed' }]);
    expect(isRunning(pid)).toBe(false);
    expect(await files()).toEqual([]);
  });

  it('does not interfere with a host that is reconciling', async () => {
    const boot = await currentBoot(directory);
    const own = readStat(process.pid);
    const ownStart =
      scan === 'proc' ? own?.startTime : (JSON.parse(await readFile(join(directory, 'own-start'), 'utf8')) as number);
    const name = `tag-2.${process.pid}-${ownStart}.claim`;
    await writeFile(
      join(directory, name),
      recordOf('tag-2', { host: { pid: 999_999, startTime: 1, boot, seenThrough: scan } }),
    );
    expect(await open().reconcile()).toMatchObject([
      { tag: 'tag-2', action: 'left', reason: 'being_reconciled', survivors: [] },
    ]);
    expect(await files()).toContain(name);
  });

  it('does not judge a host whose times were read in another way', async () => {
    const seenThrough = scan === 'proc' ? 'ps' : 'proc';
    const boot = await currentBoot(directory);
    await writeFile(
      join(directory, 'tag-3.json'),
      recordOf('tag-3', { host: { pid: process.pid, startTime: 1, boot, seenThrough } }),
    );
    expect(await open().reconcile()).toMatchObject([{ tag: 'tag-3', action: 'left', reason: 'unreadable' }]);
    expect(await files()).toContain('tag-3.json');
  });

  it('does not end the tree that this host itself runs in', async () => {
    const boot = await currentBoot(directory);
    await writeFile(
      join(directory, 'tag-4.json'),
      recordOf('tag-4', { host: { pid: 999_999, startTime: 1, boot, seenThrough: scan } }),
    );
    vi.stubEnv('WAKECHART_TASK', 'tag-0:tag-4');
    try {
      expect(await open().reconcile()).toMatchObject([{ tag: 'tag-4', action: 'left', reason: 'around_this_host' }]);
      const tree = await open().prepare({ taskId: 'inner', commandPreview: '' });
      expect(tree.launch({ program: 'true', args: [], cwd: '/', environment: {} }).environment).toEqual({
        WAKECHART_TASK: `tag-0:tag-4:${tree.tag}`,
      });
      await tree.end();
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('sets aside a record that says nothing, and never deletes it', async () => {
    await currentBoot(directory);
    await writeFile(join(directory, 'torn.json'), '{"format": 1, "tag": "to');
    await writeFile(join(directory, 'wrong.json'), '{"format": 1, "tag": "another"}');
    await writeFile(join(directory, 'newer.json'), '{"format": 2, "tag": "newer"}');
    const reports = [...(await open().reconcile())].sort((a, b) => a.tag.localeCompare(b.tag));
    expect(reports).toEqual(
      ['newer', 'torn', 'wrong'].map((tag) => ({ tag, action: 'left', reason: 'unreadable', survivors: [] })),
    );
    const names = (await files()).filter((name) => name !== 'own-start');
    expect(names.map((name) => name.replace(/\.[0-9a-f-]{36}\./, '.*.'))).toEqual([
      'newer.json',
      'torn.*.quarantined',
      'wrong.*.quarantined',
    ]);
    const torn = names.find((name) => name.startsWith('torn')) ?? '';
    expect(await readFile(join(directory, torn), 'utf8')).toBe('{"format": 1, "tag": "to');
    expect(await open().reconcile()).toMatchObject([{ tag: 'newer' }]);
  });

  it('removes what a host left that died while it wrote a record, once that is certain', async () => {
    await currentBoot(directory);
    const old = join(directory, 'tag.old.tmp');
    await writeFile(old, '{');
    await writeFile(join(directory, 'tag.new.tmp'), '{');
    await utimes(old, new Date(0), new Date(0));
    await open().reconcile();
    expect((await files()).filter((name) => name.endsWith('.tmp'))).toEqual(['tag.new.tmp']);
  });

  it('has nothing to do without a directory, or before there is one', async () => {
    expect(await open().reconcile()).toEqual([]);
    expect(await createProcessTree({ clock: createSystemClock(), scan }).reconcile()).toEqual([]);
  });

  it('keeps records to their owner', async () => {
    const tree = await open().prepare({ taskId: 'secret', commandPreview: 'x' });
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, `${tree.tag}.json`))).mode & 0o777).toBe(0o600);
    await tree.end();
  });

  it('refuses to start what it cannot record', async () => {
    await writeFile(directory, 'a file where the directory should be');
    await expect(open().prepare({ taskId: 'task_1', commandPreview: '' })).rejects.toMatchObject({
      category: 'storage',
      code: 'PROCESS_RECORD_UNWRITABLE',
    });
  });

  /** The name of this boot, as records have it; also makes the directory and leaves this process's start time there. */
  async function currentBoot(at: string): Promise<string> {
    const tree = await open().prepare({ taskId: 'probe', commandPreview: '' });
    const { host } = JSON.parse(await readFile(join(at, `${tree.tag}.json`), 'utf8')) as {
      host: { boot: string; startTime: number };
    };
    await tree.end();
    await writeFile(join(at, 'own-start'), JSON.stringify(host.startTime));
    return host.boot;
  }
});

function recordOf(tag: string, changes: object): string {
  return JSON.stringify({
    format: 1,
    tag,
    taskId: 'task_9',
    commandPreview: '',
    startedAt: '2026-01-01T00:00:00.000Z',
    startedSince: 0,
    sharedLeaders: [],
    root: { pid: 1, startTime: 1 },
    ...changes,
  });
}
