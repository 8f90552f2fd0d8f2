/** Where no real pipes are to be had, Node's own do: everything but their names works the same. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { takeNamedPipes } from '../../../src/adapters/shell/named-pipes.ts';
import { isRunning, pidFrom } from '../process-tree/system-processes.ts';
import { logOf, logged, openShellWorkbench } from './shell-workbench.ts';
import type { ShellWorkbench } from './shell-workbench.ts';

let bench: ShellWorkbench;
beforeAll(async () => {
  bench = await openShellWorkbench({ lingerMs: 1 });
  vi.stubEnv('TMPDIR', '/no/such/folder');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bench[Symbol.asyncDispose]();
});

describe('a command on a system without named pipes', () => {
  it('has its output and its log', async () => {
    expect(await takeNamedPipes(1)).toBeUndefined();
    const handle = await bench.start('echo out; read -r next; echo err >&2; exit 3');
    await logged(handle, '[stdout] out');
    await handle.send({ stdin: 'next\n' });
    expect(await handle.result).toMatchObject({ output: 'out\nerr\n', exitCode: 3 });
    expect(await logOf(handle)).toEqual(['[stdout] out', '[stderr] err']);
  });

  it('takes input, in parts and to its end', async () => {
    const handle = await bench.start('cat');
    await handle.send({ stdin: 'one ', end: false });
    await logged(await bench.start('echo meanwhile'), '[stdout] meanwhile');
    await handle.send({ stdin: 'two' });
    expect((await handle.result).output).toBe('one two');
    expect((await (await bench.start('wc -c', { stdin: 'x'.repeat(5_000_000) })).result).output.trim()).toBe('5000000');
  });

  it('passes much output and is stopped like any other', async () => {
    const flood = await bench.start('head -c 20000000 /dev/zero');
    expect((await flood.result).metadata).toMatchObject({ outputBytes: 20_000_000 });
    const handle = await bench.start('echo up; sleep 1000');
    await logged(handle, '[stdout] up');
    await handle.cancel();
    expect(isRunning(handle.pid)).toBe(false);
  });

  it('is rid of those that hold its output', async () => {
    const pidFile = `${bench.folder}/hidden.pid`;
    const hide = `env -i PATH="$PATH" setsid sh -c 'echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 1000' & while [ ! -e ${pidFile} ]; do sleep 0.01; done`;
    const handle = await bench.start(`sh -c '${hide.replaceAll("'", "'\\''")}'; exit 6`);
    const hidden = await pidFrom(pidFile);
    expect(await handle.result).toMatchObject({ exitCode: 6 });
    expect(isRunning(hidden)).toBe(false);
  });
});
