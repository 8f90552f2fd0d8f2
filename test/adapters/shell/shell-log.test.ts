/** Task logs on disk: what is written, where, how much of it, and what a failing disk does. */
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { logOf, logged, openShellWorkbench } from './shell-workbench.ts';
import type { ShellHandle, ShellWorkbench, ShellWorkbenchOptions } from './shell-workbench.ts';

let bench: ShellWorkbench | undefined;
const open = async (options: ShellWorkbenchOptions = {}): Promise<ShellWorkbench> =>
  (bench = await openShellWorkbench({ logsToDisk: true, ...options }));
afterEach(() => bench?.[Symbol.asyncDispose]());

const pathOf = ({ logPath }: ShellHandle): string => {
  if (logPath === undefined) throw new Error('the task has no log file');
  return logPath;
};
const eight = 8 * 1_048_576;

describe("a task's log file", () => {
  it('holds the lines as the log shows them, for its owner only', async () => {
    const { start, logs } = await open();
    const handle = await start(
      "printf 'one\\n\\ntwo\\r\\n'; read -r next; echo 'ünï' >&2; read -r next; printf 'no end'",
    );
    for (const line of ['[stdout] two', '[stderr] ünï']) {
      await logged(handle, line);
      await handle.send({ stdin: 'next\n', end: false });
    }
    const { logPath } = await handle.result;
    expect(logPath).toBe(join(logs, `${handle.taskId}.log`));
    expect(handle.logPath).toBe(logPath);
    expect(await readFile(pathOf(handle), 'utf8')).toBe('[stdout] one\n[stdout] two\n[stderr] ünï\n[stdout] no end\n');
    expect(await logOf(handle)).toEqual(['[stdout] one', '[stdout] two', '[stderr] ünï', '[stdout] no end']);
    expect((await stat(pathOf(handle))).mode & 0o777).toBe(0o600);
    expect((await stat(logs)).mode & 0o777).toBe(0o700);
  });

  it('can be followed while the task runs', async () => {
    const { start } = await open();
    const handle = await start('echo early; sleep 1000');
    await logged(handle, '[stdout] early');
    const deadline = performance.now() + 20_000;
    while ((await readFile(pathOf(handle), 'utf8')) === '' && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await readFile(pathOf(handle), 'utf8')).toBe('[stdout] early\n');
    await handle.cancel('done');
    expect(await readFile(pathOf(handle), 'utf8')).toBe('[stdout] early\n[system] cancelled: done\n');
  });

  it('never replaces that of an earlier task with the same id', async () => {
    const { start, logs } = await open();
    await mkdir(logs);
    await writeFile(join(logs, 'task_1.log'), 'history\n');
    const handle = await start('echo new', { taskId: 'task_1' });
    await handle.result;
    expect(await readFile(join(logs, 'task_1.log'), 'utf8')).toBe('history\n');
    expect(basename(pathOf(handle))).toMatch(/^task_1\.[0-9a-f]{8}\.log$/);
    expect(await readFile(pathOf(handle), 'utf8')).toBe('[stdout] new\n');
  });

  it.each(['../../escape', 'a/b', '..', '.hidden', 'with space', 'ü', 'x'.repeat(400)])(
    'stays in its folder for the id %j',
    async (taskId) => {
      const { start, logs } = await open();
      const handle = await start('echo here', { taskId });
      await handle.result;
      expect(await readdir(logs)).toEqual([basename(pathOf(handle))]);
      expect(await readFile(join(logs, basename(pathOf(handle))), 'utf8')).toBe('[stdout] here\n');
    },
  );

  it('serves the lines that memory has dropped, by their numbers', async () => {
    const { start } = await open({ logLimitBytes: 4096 });
    const handle = await start('seq 0 199999');
    await handle.result;
    expect(await handle.readLog({ offset: 0 })).toMatchObject({
      cursor: { offset: 0 },
      nextCursor: { offset: 200 },
      lines: { length: 200, 0: '[stdout] 0' },
    });
    expect((await handle.readLog({ offset: 131_234 })).lines[0]).toBe('[stdout] 131234');
    expect(await logOf(handle)).toEqual(Array.from({ length: 200_000 }, (_, line) => `[stdout] ${line}`));
    expect((await handle.readLog({ offset: 199_999 })).nextCursor).toBeUndefined();
  });

  it('is read no further than what memory has when somebody removed it', async () => {
    const { start, logs } = await open({ logLimitBytes: 4096 });
    const handle = await start('seq 0 199999');
    await handle.result;
    await rm(logs, { recursive: true });
    const { cursor, lines } = await handle.readLog({ offset: 5 });
    expect(cursor?.offset).toBeGreaterThan(5);
    expect(lines[0]).toBe(`[stdout] ${cursor?.offset}`);
  });

  it('is bounded: its head and its newest lines stay, under their own numbers', async () => {
    const { start, logs } = await open({ logFileLimitBytes: eight, logLimitBytes: 65_536 });
    const handle = await start('seq 1000000 4000000');
    await handle.result;
    const sizes = await Promise.all((await readdir(logs)).map(async (name) => (await stat(join(logs, name))).size));
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(eight);
    expect((await handle.readLog({ offset: 0 })).lines[0]).toBe('[stdout] 1000000');
    expect((await handle.readLog({ offset: 100_000 })).lines[0]).toBe('[stdout] 1100000');
    expect((await handle.readLog({ offset: 3_000_000 })).lines).toEqual(['[stdout] 4000000']);
    for (let offset = 0; offset < 3_000_000; offset += 97_531) {
      const { cursor, lines } = await handle.readLog({ offset });
      expect(cursor?.offset).toBeGreaterThanOrEqual(offset);
      expect(lines.length).toBeGreaterThan(0);
      lines.forEach((line, index) => expect(line).toBe(`[stdout] ${1_000_000 + (cursor?.offset ?? 0) + index}`));
    }
    for (const name of await readdir(logs)) {
      const [first = ''] = (await readFile(join(logs, name), 'utf8')).split('\n', 1);
      const begins = Number(/\.log\.(\d+)$/.exec(name)?.[1] ?? 0);
      expect(first).toBe(`[stdout] ${1_000_000 + begins}`);
    }
  });
});

describe('a log disk that fails', () => {
  it('before the file is made is reported once, and the task goes on', async () => {
    const { start, logs, folder } = await open();
    await writeFile(logs, 'no folder');
    const handle = await start('echo one; echo two');
    expect(await handle.result).toMatchObject({ output: 'one\ntwo\n', exitCode: 0, logPath: undefined });
    expect(handle.logPath).toBeUndefined();
    const log = await logOf(handle);
    expect(log.filter((line) => line.startsWith('[system]'))).toEqual([
      expect.stringContaining('the log goes on in memory'),
    ]);
    expect(log).toEqual(expect.arrayContaining(['[stdout] one', '[stdout] two']));
    expect(await readdir(folder)).toContain('logs');
  });

  it('in the middle is reported once, and the task goes on', async () => {
    const { start, logs } = await open({ logFileLimitBytes: eight });
    const handle = await start('echo up; read -r go; seq 1000000 3000000; echo over');
    await logged(handle, '[stdout] up');
    // The next file cannot be made.
    await rm(logs, { recursive: true });
    await handle.send({ stdin: 'go\n' });
    expect(await handle.result).toMatchObject({ exitCode: 0 });
    const reports: string[] = [];
    for (let offset = 0; ;) {
      const { lines, nextCursor } = await handle.readLog({ offset });
      reports.push(...lines.filter((line) => line.startsWith('[system]')));
      if (nextCursor === undefined) break;
      offset = nextCursor.offset;
    }
    expect(reports.length).toBeLessThanOrEqual(1);
    expect((await handle.readLog({ offset: Infinity })).cursor?.offset).toBeGreaterThanOrEqual(2_000_003);
  });
});

describe('fifty megabytes of output', () => {
  it('pass through a small memory, and the last lines are there under their numbers', async () => {
    const { start } = await open({ logsToDisk: false, logLimitBytes: 65_536 });
    const before = process.memoryUsage.rss();
    const handle = await start('seq 10000000 16000000; echo "last" >&2');
    const { metadata, output } = await handle.result;
    expect(metadata).toMatchObject({ outputBytes: 54_000_014 });
    expect(output.startsWith('10000000\n10000001\n')).toBe(true);
    const page = await handle.readLog({ offset: 0 });
    expect(page.cursor?.offset).toBeGreaterThan(5_900_000);
    expect(page.lines[0]).toBe(`[stdout] ${10_000_000 + (page.cursor?.offset ?? 0)}`);
    expect((await logOf(handle)).at(-1)).toMatch(/^\[std(?:out\] 16000000|err\] last)$/);
    // Far below what was printed, with room for what the process does otherwise.
    expect(process.memoryUsage.rss() - before).toBeLessThan(40_000_000 + 54_000_000);
  });
});
