/** What is read of a process, through /proc and through ps: the same facts. */
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createProcTable, readStat } from '../../../src/adapters/process-tree/proc-table.ts';
import { createPsTable } from '../../../src/adapters/process-tree/ps-table.ts';
import { SharedChecks } from '../../../src/adapters/process-tree/shared-checks.ts';
import { nestedTag, parseEnvironmentTags } from '../../../src/adapters/process-tree/tags.ts';
import type { ProcessTable } from '../../../src/adapters/process-tree/process-table.ts';
import { eventually, stateLetter, startCommand } from './system-processes.ts';

const tables: readonly (readonly [string, ProcessTable])[] = [
  ['/proc', createProcTable()],
  ['ps', createPsTable()],
];

describe.each(tables)('a scan %s', (_name, table) => {
  it('shows a process with its parent, group, session and tags', async () => {
    const child = startCommand('exec sleep 1000', { WAKECHART_TASK: 'outer:inner', OTHER: 'a WAKECHART_TASK=x b' });
    await eventually(() => stateLetter(child.pid) === 'S', 'it sleeps');
    const entry = (await table.read({ startedSince: 0 })).entries.get(child.pid);
    expect(entry).toMatchObject({
      pid: child.pid,
      parent: process.pid,
      group: child.pid,
      session: child.pid,
      state: 'alive',
    });
    expect(entry?.tags).toContain('inner');
    child.kill('SIGSTOP');
    await eventually(() => stateLetter(child.pid) === 'T', 'it is stopped');
    expect((await table.check(child.pid))?.state).toBe('stopped');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await table.check(child.pid)).toBeUndefined();
    expect((await table.read({ startedSince: 0 })).entries.has(child.pid)).toBe(false);
  });

  it('tells a process from a later one with the same pid', async () => {
    const own = await table.check(process.pid);
    if (own === undefined) throw new Error('cannot see itself');
    const impostor = { ...own, startTime: own.startTime - 1000 };
    expect((await table.stillThere([own, impostor])).map(({ startTime }) => startTime)).toEqual([own.startTime]);
  });
});

describe('a scan /proc', () => {
  it('reads a process whose name holds spaces and parentheses', async () => {
    const tricky = startCommand(
      'printf "a) Z 1 (b" > /proc/$$/comm; read line',
      {},
      { stdio: ['pipe', 'ignore', 'ignore'] },
    );
    await eventually(() => readStat(tricky.pid)?.state === 'alive' && stateLetter(tricky.pid) === 'S', 'it waits');
    expect(readStat(tricky.pid)).toMatchObject({ parent: process.pid, group: tricky.pid });
    tricky.kill('SIGKILL');
    await once(tricky, 'close');
  });

  it('shows nothing of a process that does not exist', () => {
    expect(readStat(2 ** 22 + 1)).toBeUndefined();
  });

  it('does not read environments of processes too old to matter', async () => {
    const child = startCommand('exec sleep 1000', { WAKECHART_TASK: 'some-tag' });
    const table = createProcTable();
    const later = (await table.read({ startedSince: Number.MAX_SAFE_INTEGER })).entries.get(child.pid);
    expect(later?.tags).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'close');
  });
});

describe('shared checks', () => {
  it('serve all who ask in one turn with one check, and none with a check that began before', async () => {
    const proc = createProcTable();
    let checks = 0;
    const shared = new SharedChecks({
      ...proc,
      read: (request) => {
        checks += 1;
        return proc.read(request);
      },
    });
    const first = await Promise.all(Array.from({ length: 50 }, () => shared.check({ startedSince: 0 })));
    expect(new Set(first).size).toBe(1);
    expect(checks).toBe(1);
    const during = shared.check({ startedSince: 0 });
    await new Promise((resolve) => setImmediate(resolve));
    const later = shared.check({ startedSince: 0 });
    expect(await later).not.toBe(await during);
  });

  it('hand a failure to those who asked and go on', async () => {
    let fails = true;
    const proc = createProcTable();
    const shared = new SharedChecks({
      ...proc,
      read: (request) => (fails ? Promise.reject(new Error('no ps')) : proc.read(request)),
    });
    await expect(shared.check({ startedSince: 0 })).rejects.toThrow('no ps');
    fails = false;
    expect((await shared.check({ startedSince: 0 })).entries.has(process.pid)).toBe(true);
  });
});

describe('tags', () => {
  it.each([
    ['WAKECHART_TASK=a\0B=c\0', ['a']],
    ['A=b\0WAKECHART_TASK=a:b:c\0', ['a', 'b', 'c']],
    ['A=b\0WAKECHART_TASK=a', ['a']],
    ['XWAKECHART_TASK=a\0A=WAKECHART_TASK=b\0', []],
    ['WAKECHART_TASK=\0', []],
    ['', []],
  ])('in %j are %j', (environment, expected) => {
    expect(parseEnvironmentTags(Buffer.from(environment))).toEqual(expected);
  });

  it('of a tree inside a tree name both', () => {
    expect(nestedTag(undefined, 'b')).toBe('b');
    expect(nestedTag('', 'b')).toBe('b');
    expect(nestedTag('a', 'b')).toBe('a:b');
  });
});
