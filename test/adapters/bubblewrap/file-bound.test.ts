import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasSandbox, openSandbox } from '../../support/sandbox.ts';
import { openEscapeSetup, ran, shut } from './escape-setup.ts';
import type { EscapeSetup } from './escape-setup.ts';

let setup: EscapeSetup;

beforeEach(async () => {
  setup = await openEscapeSetup();
});
afterEach(async () => {
  await setup[Symbol.asyncDispose]();
});

describe.skipIf(!hasSandbox)('a file that a command writes', () => {
  it('holds no more than the workspace may, and whoever writes on is ended', async () => {
    const sandbox = await openSandbox({ workspace: setup.workspace, maxFileBytes: 2_097_152 });
    const { output, exitCode } = await shut(
      sandbox,
      setup,
      'ulimit -f unlimited 2>/dev/null && echo raised; sh -c "cat /dev/zero > big"; echo $?; echo after',
    );
    expect(output).toMatch(/(?:^|\n)153\nafter\n$/);
    expect(output).not.toContain('raised');
    expect(exitCode).toBe(0);
    expect((await stat(join(setup.workspace, 'big'))).size).toBe(2_097_152);
  });

  it('may hold a mebibyte however little the workspace may, also where no shell reads the command', async () => {
    const sandbox = await openSandbox({ workspace: setup.workspace, maxFileBytes: 10 });
    const { command, args } = sandbox.wrapProgram(
      { command: '/bin/sh', args: ['-c', 'head -c 1048576 /dev/zero > all && head -c 1048577 /dev/zero > more'] },
      setup.workspace,
    );
    const { exitCode } = await ran([command, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '), {
      cwd: setup.workspace,
    });
    expect(exitCode).not.toBe(0);
    expect((await stat(join(setup.workspace, 'all'))).size).toBe(1_048_576);
    expect((await stat(join(setup.workspace, 'more'))).size).toBe(1_048_576);
  });

  it('has no bound where the environment names none', async () => {
    const { output } = await shut(await openSandbox({ workspace: setup.workspace }), setup, 'ulimit -f');
    expect(output).toBe('unlimited\n');
  });
});
