/** What every ProcessTree owes its callers, shown with real processes. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import type { ProcessTree, TrackedProcessTree } from '../../../src/actors/task/process-tree.ts';
import {
  eventually,
  fixturePath,
  isRunning,
  pidFrom,
  processesWith,
  startCommand,
  startIn,
  stateLetter,
} from '../../adapters/process-tree/system-processes.ts';

export interface ProcessTreeContract {
  readonly name: string;
  readonly create: (options: { readonly clock: Clock; readonly directory: string }) => ProcessTree;
}

export function describeProcessTreeContract({ name, create }: ProcessTreeContract): void {
  describe(`a process tree (${name})`, () => {
    let folder: string;
    let trees: ProcessTree;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tree-'));
      trees = create({ clock: createSystemClock(), directory: join(folder, 'processes') });
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    const records = async (): Promise<string[]> =>
      ((await readdir(join(folder, 'processes')).catch(() => [])) as string[]).sort();
    const prepare = (): Promise<TrackedProcessTree> => trees.prepare({ taskId: 'task_1', commandPreview: 'a command' });
    const start = async (command: string): Promise<{ tree: TrackedProcessTree; pid: number }> => {
      const tree = await prepare();
      const { pid } = startIn(tree, command, { cwd: folder });
      await tree.attach(pid);
      return { tree, pid };
    };

    it('is on record before anything runs, and forgotten when it is proven gone', async () => {
      const tree = await prepare();
      expect(await records()).toEqual([`${tree.tag}.json`]);
      const { pid } = startIn(tree, 'exec sleep 1000');
      await tree.attach(pid);
      expect(await tree.end()).toEqual({ ended: 1 });
      expect(isRunning(pid)).toBe(false);
      expect(await records()).toEqual([]);
    });

    it('finds its root and what the root started, and not the process that asks', async () => {
      const { tree, pid } = await start('sleep 1000 & sleep 1000 & wait');
      await eventually(() => processesWith(`WAKECHART_TASK=${tree.tag}`).length === 3, 'three processes');
      const found = (await tree.survivors()).map((survivor) => survivor.pid).sort(byNumber);
      expect(found).toEqual(processesWith(`WAKECHART_TASK=${tree.tag}`).sort(byNumber));
      expect(found).toContain(pid);
      expect(found).not.toContain(process.pid);
      expect(await tree.end()).toEqual({ ended: 3 });
    });

    it('costs nothing to end when nothing is left', async () => {
      const { tree } = await start('true');
      await eventually(() => processesWith(`WAKECHART_TASK=${tree.tag}`).length === 0, 'the command is over');
      expect(await tree.end({ lingerMs: 1_000_000 })).toEqual({ ended: 0 });
      expect(await tree.end()).toEqual({ ended: 0 });
    });

    it('ends a daemon that left parent, group and session', async () => {
      const pidFile = join(folder, 'daemon.pid');
      const { tree, pid } = await start(`sh ${fixturePath('daemonize.sh')} ${pidFile}`);
      const daemon = await pidFrom(pidFile);
      await eventually(() => !isRunning(pid), 'the shell is over');
      expect((await tree.survivors()).map((survivor) => survivor.pid)).toContain(daemon);
      await tree.end();
      expect(isRunning(daemon)).toBe(false);
    });

    it('kills what ignores SIGTERM, when the grace has passed and not before', async () => {
      const clock = createSimulatedClock();
      const patient = create({ clock, directory: join(folder, 'processes') });
      const tree = await patient.prepare({ taskId: 'task_1', commandPreview: '' });
      const marker = join(folder, 'asked');
      const { pid } = startIn(tree, `trap ': > ${marker}' TERM; while :; do sleep 0.01; done`);
      await tree.attach(pid);
      await eventually(() => processesWith(`WAKECHART_TASK=${tree.tag}`).length === 2, 'the trap is set');
      const ending = tree.end({ graceMs: 60_000 });
      await eventually(() => existsSync(marker), 'SIGTERM arrived');
      await clock.advance(59_999);
      expect(isRunning(pid)).toBe(true);
      await clock.advance(1);
      await ending;
      expect(isRunning(pid)).toBe(false);
      expect(clock.pendingTimers).toBe(0);
    });

    it('gives up its patience when a second call has none', async () => {
      const { tree, pid } = await start("trap '' TERM; echo; sleep 1000");
      await eventually(() => processesWith(`WAKECHART_TASK=${tree.tag}`).length === 2, 'the trap is set');
      const patient = tree.end({ graceMs: 1_000_000 });
      expect(await tree.end({ graceMs: 0 })).toEqual(await patient);
      expect(isRunning(pid)).toBe(false);
    });

    it('lets members that end by themselves do so, and counts nobody then', async () => {
      const gate = join(folder, 'gate');
      const { tree } = await start(`while [ ! -e ${gate} ]; do sleep 0.01; done`);
      const ending = tree.end({ lingerMs: 1_000_000 });
      await writeFile(gate, '');
      expect(await ending).toEqual({ ended: 0 });
    });

    it('ends processes that were stopped', async () => {
      const { tree, pid } = await start('kill -STOP $$; sleep 1000');
      await eventually(() => stateLetter(pid) === 'T', 'it has stopped itself');
      await tree.end({ graceMs: 1_000_000 });
      expect(isRunning(pid)).toBe(false);
    });

    it('ends those born while it ends the others, each in a session of its own', async () => {
      const { tree } = await start(`sh ${fixturePath('breed.sh')} 60`);
      await eventually(() => processesWith(`WAKECHART_TASK=${tree.tag}`).length > 5, 'it breeds');
      const { ended } = await tree.end({ graceMs: 1 });
      expect(ended).toBeGreaterThan(5);
      expect(processesWith(`WAKECHART_TASK=${tree.tag}`)).toEqual([]);
    });

    it('ends a child that shares the group and session of its host, and spares the host', async () => {
      const tree = await prepare();
      const child = startIn(tree, 'sleep 1000 & wait', { detached: false });
      await tree.attach(child.pid);
      await eventually(() => processesWith(`WAKECHART_TASK=${tree.tag}`).length === 2, 'it has a child');
      const bystander = startCommand('exec sleep 1000', {}, { detached: false });
      expect(await tree.end()).toEqual({ ended: 2 });
      expect(isRunning(bystander.pid)).toBe(true);
      bystander.kill('SIGKILL');
      await once(bystander, 'close');
    });

    it('follows a member that sheds its environment', async () => {
      const { tree, pid } = await start('exec env -i sleep 1000');
      await eventually(() => !processesWith(`WAKECHART_TASK=${tree.tag}`).includes(pid), 'it has no environment');
      expect(await tree.end()).toEqual({ ended: 1 });
      expect(isRunning(pid)).toBe(false);
    });

    it('leaves the processes of other trees alone', async () => {
      const one = await start('exec sleep 1000');
      const other = await start('exec sleep 1000');
      await one.tree.end();
      expect(isRunning(one.pid)).toBe(false);
      expect(isRunning(other.pid)).toBe(true);
      await other.tree.end();
    });

    it('ends many at once', async () => {
      const started = await Promise.all(Array.from({ length: 20 }, () => start("trap '' TERM; sleep 1000")));
      await Promise.all(started.map(({ tree }) => tree.end({ graceMs: 1 })));
      expect(started.filter(({ pid }) => isRunning(pid))).toEqual([]);
      expect(await records()).toEqual([]);
    });
  });
}

const byNumber = (one: number, other: number): number => one - other;
