/** What connects commands to their host: real pipes, used once and never leaked. */
import { writeSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDescriptor, closePipe, takeNamedPipes } from '../../../src/adapters/shell/named-pipes.ts';
import { pipeSource } from '../../../src/adapters/shell/output-source.ts';
import { openFilesOf } from '../../setup/open-files.ts';
import { eventually } from '../process-tree/system-processes.ts';
import { logged, openShellWorkbench } from './shell-workbench.ts';
import type { ShellWorkbench } from './shell-workbench.ts';

let bench: ShellWorkbench;
beforeEach(async () => {
  bench = await openShellWorkbench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const openPipes = (): number => openFilesOf(join(tmpdir(), 'wakechart-pipes-'));

/** Takes those that lie ready. A new batch tells that the last one of them is gone; then all of that are taken too. */
async function drain(): Promise<void> {
  for (let isNew = false; !isNew;) {
    const before = openPipes();
    const taken = (await takeNamedPipes(1)) ?? [];
    isNew = openPipes() > before;
    taken.forEach(closePipe);
  }
  (await takeNamedPipes(11))?.forEach(closePipe);
}

describe('the pipes of a command', () => {
  it('can be opened by name, as those of any shell', async () => {
    const handle = await bench.start(
      'echo out > /dev/stdout && echo err > /dev/stderr && [ -p /dev/stdout ] && [ -p /dev/stderr ] && echo pipe',
    );
    const { output, exitCode } = await handle.result;
    expect(output.trim().split('\n').sort()).toEqual(['err', 'out', 'pipe']);
    expect(exitCode).toBe(0);
  });

  it('block a command that writes faster than it is read, and do not fail it', async () => {
    const handle = await bench.start('head -c 20000000 /dev/zero && echo whole >&2');
    expect(await handle.result).toMatchObject({ exitCode: 0, metadata: { outputBytes: 20_000_006 } });
  });

  it('are closed with the command, whatever became of it', async () => {
    // Twelve are made at a time, and a command that times out soon enough takes none: what lies ready is no leak.
    await drain();
    const before = openPipes();
    for (let round = 0; round < 6; round += 1) {
      await (
        await bench.start('echo out; echo err >&2', { stdin: 'unread' })
      ).result;
      await expect(bench.start('true', { shell: '/no/such/shell' })).rejects.toThrow();
      const cancelled = await bench.start('echo up; sleep 1000');
      await logged(cancelled, '[stdout] up');
      await cancelled.cancel();
      const closes = await bench.start('exec >&- 2>&- <&-; exit 3');
      expect(await closes.result).toMatchObject({ exitCode: 3 });
      await (
        await bench.start('sleep 1000 & exit 0', { mode: 'foreground' })
      ).result;
      await expect((await bench.start('sleep 1000', { timeoutMs: 1 })).result).rejects.toThrow('longer than 1 ms');
    }
    await drain();
    expect(openPipes()).toBe(before);
  });

  it('leave no names behind', async () => {
    await (
      await bench.start('true')
    ).result;
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('wakechart-pipes'))).toEqual([]);
  });

  it('are handed out once, to however many ask at the same time', async () => {
    const taken = (await Promise.all(Array.from({ length: 10 }, () => takeNamedPipes(3)))).flatMap(
      (pipes) => pipes ?? [],
    );
    expect(taken).toHaveLength(30);
    expect(new Set(taken.flatMap(({ readEnd, writeEnd }) => [readEnd, writeEnd])).size).toBe(60);
    taken.forEach(closePipe);
  });

  it('are read into memory that is used again, and no more once they are destroyed', async () => {
    const [pipe] = (await takeNamedPipes(1)) ?? [];
    if (pipe === undefined) throw new Error('no pipe');
    const chunks: Uint8Array[] = [];
    const source = pipeSource(pipe.readEnd);
    source.start((chunk) => chunks.push(chunk));
    for (const text of ['one', 'two']) {
      writeSync(pipe.writeEnd, text);
      await eventually(() => chunks.length > 0 && Buffer.from(chunks.at(-1) ?? []).toString() === text, text);
    }
    expect(Buffer.from(chunks[0] ?? []).toString()).toBe('two');
    source.destroy();
    await source.closed;
    closeDescriptor(pipe.writeEnd);
  });
});
