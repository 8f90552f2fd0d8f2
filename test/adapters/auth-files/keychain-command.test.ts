/** Commands that print secrets, as real processes. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { SecretCommandEnd } from '../../../src/actors/run/secret-reader.ts';
import { SecretReader } from '../../../src/actors/run/secret-reader.ts';
import { createKeychainCommand } from '../../../src/adapters/auth-files/keychain-command.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

const nobody = new AbortController().signal;

/** Runs lines of a program of Node. */
function node(
  code: string,
  {
    signal = nobody,
    environment = {},
  }: { readonly signal?: AbortSignal; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<SecretCommandEnd> {
  return createKeychainCommand({ clock: createSystemClock(), environment })([process.execPath, '-e', code], { signal });
}

function isAlive(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !['Z', 'X'].includes(text.slice(text.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false;
  }
}

const numberIn = (path: string): Promise<number> =>
  vi.waitFor(() => {
    const number = Number(readFileSync(path, 'utf8'));
    if (!(number > 0)) throw new Error('nothing is there yet');
    return number;
  }, 20_000);

describe('a command that prints a secret', () => {
  it('gets its words as they are, our environment and no input, and what it prints is told', async () => {
    expect(
      await node("process.stdin.on('end', () => process.stdout.write(process.env.WHOSE + ' \\n')).resume()", {
        environment: { WHOSE: 'mine; $(true)' },
      }),
    ).toEqual({ kind: 'printed', text: 'mine; $(true) \n' });
    const printed = await createKeychainCommand({ clock: createSystemClock(), environment: {} })(
      ['/bin/echo', '$HOME', ';', 'echo no shell'],
      { signal: nobody },
    );
    expect(printed).toEqual({ kind: 'printed', text: '$HOME ; echo no shell\n' });
  });

  it.each([
    ["console.error('sk-ant-secret'); console.log('sk-ant-secret'); process.exitCode = 3", 'ended with exit code 3'],
    [
      "console.log('sk-ant-secret'); process.kill(process.pid, 'SIGTERM'); setInterval(() => undefined, 1000)",
      'was ended by SIGTERM',
    ],
    [
      "process.stdout.write('x'.repeat(100_000)); setInterval(() => undefined, 1000)",
      'has printed more than 65536 bytes',
    ],
  ])('that fails says how it ended, and nothing of what it wrote: %s', async (code, because) => {
    expect(await node(code)).toEqual({ kind: 'failed', because });
  });

  it.each([
    [['there-is-no-such-program'], 'could not be started: there is no such program'],
    [[''], expect.stringContaining('could not be started') as string],
    [['/'], 'could not be started: it may not be executed'],
    [['a\0b'], expect.stringContaining('could not be started') as string],
    [
      ['/bin/echo', 'x'.repeat(4_000_000)],
      'could not be started: its arguments and its environment are too long for the system',
    ],
  ])('that cannot be started says so', async (command, because) => {
    expect(
      await createKeychainCommand({ clock: createSystemClock(), environment: {} })(command, { signal: nobody }),
    ).toEqual({ kind: 'failed', because });
  });

  it.skipIf(process.platform !== 'linux')('that takes too long is ended with all that it started', async () => {
    const clock = createSimulatedClock();
    const [parent, child] = [join(home.path, 'parent'), join(home.path, 'child')];
    const code = `
      process.on('SIGTERM', () => undefined);
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'inherit' });
      require('node:fs').writeFileSync(${JSON.stringify(child)}, String(child.pid));
      require('node:fs').writeFileSync(${JSON.stringify(parent)}, String(process.pid));
      setInterval(() => undefined, 1000);`;
    const ended = createKeychainCommand({ clock, environment: {} })([process.execPath, '-e', code], { signal: nobody });
    const pids = [await numberIn(parent), await numberIn(child)];
    expect(pids.map(isAlive)).toEqual([true, true]);
    await clock.advance(10_000);
    expect(await ended).toEqual({ kind: 'failed', because: 'did not end within 10000 ms' });
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), 20_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')('that nobody waits for any more is ended', async () => {
    const path = join(home.path, 'pid');
    const waiting = new AbortController();
    const ended = node(
      `require('node:fs').writeFileSync(${JSON.stringify(path)}, String(process.pid)); setInterval(() => undefined, 1000)`,
      { signal: waiting.signal },
    );
    const pid = await numberIn(path);
    waiting.abort();
    expect((await ended).kind).toBe('failed');
    expect(isAlive(pid)).toBe(false);
    expect(await node('', { signal: AbortSignal.abort() })).toEqual({
      kind: 'failed',
      because: 'was not run: no caller waits for it any more',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'that leaves somebody behind with its output open is not waited for',
    async () => {
      const path = join(home.path, 'pid');
      const script = join(home.path, 'agent.sh');
      await writeFile(script, `sleep 600 & echo $! > '${path}'; echo secret`);
      try {
        expect(
          await createKeychainCommand({ clock: createSystemClock(), environment: { PATH: process.env['PATH'] ?? '' } })(
            ['/bin/sh', script],
            { signal: nobody },
          ),
        ).toEqual({ kind: 'printed', text: 'secret\n' });
      } finally {
        // A helper such as the agent of a keychain is left alone, but this one is ours.
        process.kill(await numberIn(path), 'SIGKILL');
      }
    },
  );
});

describe('a value that cannot be had', () => {
  it('is complained about in words that hold nothing of what a command wrote, or of a variable', async () => {
    const clock = createSystemClock();
    const environment = { KEY: 'sk-ant-one\nsk-ant-two', PATH: process.env['PATH'] ?? '' };
    const reader = new SecretReader({ clock, environment, runCommand: createKeychainCommand({ clock, environment }) });
    const secrets = [
      { env: 'KEY' },
      { command: [process.execPath, '-e', "console.error('sk-ant-one'); process.exitCode = 1"] },
      { command: [process.execPath, '-e', "console.log('sk-ant-one\\nsk-ant-two')"] },
    ];
    for (const secret of secrets) {
      const error: unknown = await reader
        .credential({ id: 'work', provider: 'p', secret })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'AUTH_VALUE_MISSING', details: { profileId: 'work' } });
      expect(
        `${String(error)}${JSON.stringify(error)}${error instanceof Error ? String(error.cause) : ''}`,
      ).not.toContain('sk-ant');
    }
  });
});
