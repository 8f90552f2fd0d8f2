/** The two ways to check processes keep the same contract; what only one of them can do, and what bad options get. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { describeProcessTreeContract } from '../../actors/task/process-tree-contract.ts';
import { eventually, fixturePath, isRunning, processesWith, startIn } from './system-processes.ts';

describeProcessTreeContract({
  name: 'through /proc',
  create: (options) => createProcessTree({ ...options, scan: 'proc' }),
});

describeProcessTreeContract({
  name: 'through ps',
  create: (options) => createProcessTree({ ...options, scan: 'ps' }),
});

describe('a process tree seen through /proc', () => {
  it('is ended even when its only member replaces itself faster than anybody can check', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tree-'));
    const exhausted = join(folder, 'exhausted');
    const tree = await createProcessTree({ clock: createSystemClock(), scan: 'proc' }).prepare({
      taskId: 'task_1',
      commandPreview: '',
    });
    const { pid } = startIn(tree, `sh ${fixturePath('hop.sh')} 5000 ${exhausted}`, { cwd: folder });
    await tree.attach(pid);
    await eventually(() => !isRunning(pid), 'it has hopped away');
    await tree.end({ graceMs: 0 });
    expect(processesWith(`WAKECHART_TASK=${tree.tag}`)).toEqual([]);
    expect(existsSync(exhausted)).toBe(false);
    await rm(folder, { recursive: true });
  });
});

describe('process tree options', () => {
  it.each([NaN, -1, Infinity])('are refused with the proof timeout %d', (proofTimeoutMs) => {
    expect(() => createProcessTree({ clock: createSimulatedClock(), proofTimeoutMs })).toThrow(
      expect.objectContaining({ category: 'validation' }),
    );
  });
});

it.each(['proc', 'ps'] as const)('tells when a process started, through %s', async (scan) => {
  const tree = createProcessTree({ clock: createSystemClock(), scan });
  const startedAtMs = (await tree.usageOf?.(process.pid))?.startedAtMs ?? NaN;
  // The boot of the machine and the lines of ps are told to a second.
  expect(Math.abs(startedAtMs - (Date.now() - process.uptime() * 1_000))).toBeLessThan(5_000);
});

it('tells the command line of a process through /proc', async () => {
  const tree = createProcessTree({ clock: createSystemClock(), scan: 'proc' });
  expect((await tree.usageOf?.(process.pid))?.commandLine?.[0]).toContain('node');
});
