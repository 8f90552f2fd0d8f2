import { describe, expect, it } from 'vitest';
import type { SecretCommandEnd } from '../../../src/actors/run/secret-reader.ts';
import { SECRET_KEPT_MS, SecretReader } from '../../../src/actors/run/secret-reader.ts';
import type { AuthProfile } from '../../../src/machines/run/auth-profile.ts';

const HOME: AuthProfile = { id: 'home', provider: 'p', secret: { command: ['keychain'] } };

/** A reader whose commands end when the test says so. */
function setup() {
  const runs: {
    readonly signal: AbortSignal;
    readonly end: (end: SecretCommandEnd) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  let steadyMs = 0;
  const reader = new SecretReader({
    clock: { steadyNow: () => steadyMs },
    environment: Object.assign(Object.create({ INHERITED: 'x' }) as Record<string, string>, { KEY: 'value ' }),
    runCommand: (_command, { signal }) => new Promise((end, fail) => runs.push({ signal, end, fail })),
  });
  const pass = (durationMs: number): void => {
    steadyMs += durationMs;
  };
  return { reader, runs, pass, print: (run: number, text: string) => runs[run]?.end({ kind: 'printed', text }) };
}

const secretOf = async (asked: Promise<{ readonly secret?: string | undefined }>): Promise<string | undefined> =>
  (await asked).secret;

describe('those who ask for the value of a command', () => {
  it('share its run, and each may leave by himself', async () => {
    const { reader, runs, print } = setup();
    const impatient = new AbortController();
    const left = reader.credential(HOME, impatient.signal);
    const stays = reader.credential(HOME, new AbortController().signal);
    impatient.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    expect(runs.map(({ signal }) => signal.aborted)).toEqual([false]);
    print(0, 'secret\n');
    expect(await secretOf(stays)).toBe('secret');
  });

  it('end it when the last one has left, and whoever comes then begins another', async () => {
    const { reader, runs, print } = setup();
    const leaving = [new AbortController(), new AbortController()];
    const left = leaving.map(({ signal }) => reader.credential(HOME, signal));
    for (const each of leaving) each.abort(new Error('enough'));
    expect((await Promise.allSettled(left)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs[0]?.signal.aborted).toBe(true);
    const next = reader.credential(HOME);
    print(0, 'old');
    print(1, 'new');
    expect(await secretOf(next)).toBe('new');
    expect(await secretOf(reader.credential(HOME))).toBe('new');
  });

  it('do not begin one when they do not want it any more', async () => {
    const { reader, runs } = setup();
    await expect(reader.credential(HOME, AbortSignal.abort(new Error('never')))).rejects.toThrow('never');
    expect(runs).toEqual([]);
  });

  it('get what was asked for before it was forgotten, and nobody after them does', async () => {
    const { reader, runs, print } = setup();
    const before = reader.credential(HOME);
    reader.forget('home');
    const after = reader.credential(HOME);
    print(0, 'refused');
    print(1, 'good');
    expect([await secretOf(before), await secretOf(after), await secretOf(reader.credential(HOME))]).toEqual([
      'refused',
      'good',
      'good',
    ]);
    expect(runs).toHaveLength(2);
  });

  it('get no value that is five minutes old, or of another command', async () => {
    const { reader, runs, print, pass } = setup();
    const first = reader.credential(HOME);
    print(0, 'one');
    await first;
    const other = reader.credential({ ...HOME, secret: { command: ['other'] } });
    print(1, 'two');
    expect(await secretOf(other)).toBe('two');
    pass(SECRET_KEPT_MS);
    const third = reader.credential({ ...HOME, secret: { command: ['other'] } });
    expect(runs).toHaveLength(3);
    print(2, 'three');
    expect(await secretOf(third)).toBe('three');
  });

  it('are told when the runner itself breaks, and may ask again', async () => {
    const { reader, runs, print } = setup();
    const broken = reader.credential(HOME);
    runs[0]?.fail(new Error('defect'));
    await expect(broken).rejects.toThrow('defect');
    const again = reader.credential(HOME);
    print(1, 'fine');
    expect(await secretOf(again)).toBe('fine');
  });
});

describe('a variable', () => {
  it('is one of the environment itself, and given as it is', async () => {
    const { reader } = setup();
    expect(await secretOf(reader.credential({ id: 'a', provider: 'p', secret: { env: 'KEY' } }))).toBe('value ');
    for (const env of ['INHERITED', 'toString', '__proto__'])
      await expect(reader.credential({ id: 'a', provider: 'p', secret: { env } })).rejects.toMatchObject({
        code: 'AUTH_VALUE_MISSING',
        message: expect.stringContaining(`${env} is not set`) as string,
      });
  });
});
