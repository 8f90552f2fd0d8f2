/** What connects commands to their host: real pipes, used once and never leaked. */
import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closePipe, takeNamedPipes } from '../../../src/adapters/shell/named-pipes.ts';
import { pipeSource } from '../../../src/adapters/shell/output-source.ts';
import { logged, openShellWorkbench } from './shell-workbench.ts';
import type { ShellWorkbench } from './shell-workbench.ts';

let bench: ShellWorkbench;
beforeEach(async () => {
  bench = await openShellWorkbench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('the pipes of a command', () => {
  it('can be opened by name, as those of any shell', async () => {
    const handle = await bench.start('echo out > /dev/stdout; echo err > /dev/stderr; cat /dev/stdin; [ -p /dev/stdout ] && echo pipe', { stdin: 'in\n' });
    expect(await handle.result).toMatchObject({ output: expect.stringMatching(/out\n/), exitCode: 0 });
    const words = (await handle.result).output.trim().split('\n').sort();
    expect(words).toEqual(['err', 'in', 'out', 'pipe']);
  });

  it('block a command that writes faster than it is read, and do not fail it', async () => {
    const handle = await bench.start('head -c 20000000 /dev/zero && echo whole >&2');
    expect(await handle.result).toMatchObject({ exitCode: 0, metadata: { outputBytes: 20_000_006 } });
  });

  it('are closed with the command, whatever became of it', async () => {
    await (await bench.start('true')).result;
    // A batch of twelve pipes lies ready for four commands: after each four the same number does.
    const before = openDescriptors();
    for (let round = 0; round < 6; round += 1) {
      await (await bench.start('echo out; echo err >&2', { stdin: 'unread' })).result;
      await expect(bench.start('true', { shell: '/no/such/shell' })).rejects.toThrow();
      const cancelled = await bench.start('echo up; sleep 1000');
      await logged(cancelled, '[stdout] up');
      await cancelled.cancel();
      const closes = await bench.start('exec >&- 2>&- <&-; exit 3');
      expect(await closes.result).toMatchObject({ exitCode: 3 });
    }
    expect(openDescriptors()).toBe(before);
  });

  it('leave no names behind', async () => {
    await (await bench.start('true')).result;
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('wakechart-pipes'))).toEqual([]);
  });

  it('are handed out once, to however many ask at the same time', async () => {
    const taken = (await Promise.all(Array.from({ length: 10 }, () => takeNamedPipes(3)))).flatMap((pipes) => pipes ?? []);
    expect(taken).toHaveLength(30);
    expect(new Set(taken.flatMap(({ readEnd, writeEnd }) => [readEnd, writeEnd])).size).toBe(60);
    taken.forEach(closePipe);
  });

  it('read into memory that is used again, and stop for good when destroyed', async () => {
    const [pipe] = (await takeNamedPipes(1)) ?? [];
    if (pipe === undefined) throw new Error('no pipe');
    const source = pipeSource(pipe.readEnd);
    source.start(() => undefined);
    source.destroy();
    await source.closed;
    closePipe({ readEnd: -1, writeEnd: pipe.writeEnd });
  });
});
