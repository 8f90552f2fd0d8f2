/** Input on its way to a command: in order, closed once, and harmless whatever the command does with it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logged, openShellWorkbench } from './shell-workbench.ts';
import type { ShellWorkbench } from './shell-workbench.ts';

let bench: ShellWorkbench;
beforeEach(async () => {
  bench = await openShellWorkbench({ inputLimitBytes: 20_000_000 });
});
afterEach(() => bench[Symbol.asyncDispose]());

const TEN_MEGABYTES = 'x'.repeat(10_000_000);

describe('the input of a command', () => {
  it('is what the request holds, and ends there', async () => {
    expect((await (await bench.start('cat', { stdin: 'hello\nwörld' })).result).output).toBe('hello\nwörld');
    expect((await (await bench.start('cat; echo end', { stdin: '' })).result).output).toBe('end\n');
  });

  it('can be sent while it runs, and is closed after one send', async () => {
    const handle = await bench.start('cat');
    await handle.send({ stdin: 'only this' });
    expect((await handle.result).output).toBe('only this');
  });

  it('stays open when asked, keeps its order, and is closed by the last send', async () => {
    const handle = await bench.start('while read -r line; do echo "got $line"; done; echo over');
    await handle.send({ stdin: 'one\n', end: false });
    await logged(handle, '[stdout] got one');
    await Promise.all([handle.send({ stdin: 'two\n', end: false }), handle.send({ stdin: 'three\n', end: true })]);
    expect((await handle.result).output).toBe('got one\ngot two\ngot three\nover\n');
  });

  it('can be closed without a word', async () => {
    const handle = await bench.start('cat; echo over');
    await handle.send({ end: true });
    expect((await handle.result).output).toBe('over\n');
  });

  it('is empty for a foreground command that got none: it cannot wait for ever', async () => {
    const handle = await bench.start('cat; echo over', { mode: 'foreground' });
    expect((await handle.result).output).toBe('over\n');
    await expect(handle.send({ stdin: 'x' })).rejects.toMatchObject({
      category: 'runner',
      message: expect.stringContaining('without an input'),
    });
  });

  it('comes through whole when it is large', async () => {
    const handle = await bench.start('wc -c', { stdin: TEN_MEGABYTES });
    expect((await handle.result).output.trim()).toBe('10000000');
  });

  it('refuses what comes after its end', async () => {
    const handle = await bench.start('cat >/dev/null; sleep 1000');
    await handle.send({ stdin: 'last' });
    await expect(handle.send({ stdin: 'more' })).rejects.toMatchObject({
      category: 'runner',
      code: 'TASK_INPUT_CLOSED',
      hint: expect.any(String),
    });
  });

  it('refuses what comes after the end of the command', async () => {
    const handle = await bench.start('true');
    await handle.result;
    await expect(handle.send({ stdin: 'x', end: false })).rejects.toMatchObject({
      category: 'runner',
      message: expect.stringContaining('the process has ended'),
    });
  });

  it('refuses what is no stdin', async () => {
    const handle = await bench.start('cat');
    await expect(handle.send({ prompt: 'hello' })).rejects.toMatchObject({ category: 'validation' });
    await expect(handle.send({})).rejects.toMatchObject({ category: 'validation' });
  });
});

describe('a command that does not read its input', () => {
  it('keeps the sender waiting, and ends like any other', async () => {
    const handle = await bench.start('echo up; sleep 1000');
    let isTaken = false;
    const refused = handle.send({ stdin: TEN_MEGABYTES, end: false }).then(
      () => (isTaken = true),
      (error: unknown) => error,
    );
    await logged(handle, '[stdout] up');
    expect(isTaken).toBe(false);
    await handle.cancel();
    expect(await refused).toMatchObject({ category: 'runner', code: 'TASK_INPUT_CLOSED' });
  });

  it('and ends by itself fails the sends that waited, not the task', async () => {
    const handle = await bench.start('sleep 0.05; exit 2', { stdin: undefined });
    const sent = handle.send({ stdin: TEN_MEGABYTES });
    await expect(sent).rejects.toMatchObject({ category: 'runner' });
    expect(await handle.result).toMatchObject({ exitCode: 2 });
  });

  it('and was given input by its request is told of nothing worse than a log line', async () => {
    const handle = await bench.start('exit 3', { stdin: TEN_MEGABYTES });
    expect(await handle.result).toMatchObject({ exitCode: 3 });
  });

  it('or closes it fails the send', async () => {
    const handle = await bench.start('exec <&-; echo closed; sleep 1000');
    await logged(handle, '[stdout] closed');
    await expect(handle.send({ stdin: TEN_MEGABYTES, end: false })).rejects.toMatchObject({
      category: 'runner',
      message: expect.stringContaining('has closed its input'),
    });
    await expect(handle.send({ stdin: 'x', end: false })).rejects.toMatchObject({ category: 'runner' });
  });

  it('gets only so much to keep', async () => {
    const handle = await bench.start('sleep 1000');
    const first = handle.send({ stdin: 'x'.repeat(15_000_000), end: false }).catch((error: unknown) => error);
    await expect(handle.send({ stdin: TEN_MEGABYTES, end: false })).rejects.toMatchObject({
      category: 'capacity',
      code: 'TASK_INPUT_FULL',
      details: { waitingBytes: 15_000_000, limitBytes: 20_000_000 },
    });
    await handle.cancel();
    expect(await first).toMatchObject({ category: 'runner' });
  });
});
