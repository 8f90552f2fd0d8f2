import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostSnapshot } from './host-snapshot.ts';
import type { HostSnapshot } from './host-snapshot.ts';

const HOST = fileURLToPath(new URL('../fixtures/processes/telling-host.mjs', import.meta.url));

interface Told {
  readonly pid: number;
  readonly uuid: string;
  readonly random: number;
  readonly now: number;
}

describe('processes that begin from one snapshot', () => {
  let snapshot: HostSnapshot;
  beforeAll(async () => {
    snapshot = await hostSnapshot(HOST, ['actors/clock/system-clock.js']);
  });
  afterAll(() => snapshot.remove());

  async function told(argument: string): Promise<Told> {
    const { stdout } = await promisify(execFile)(process.execPath, [...snapshot.parameters, argument], {
      cwd: tmpdir(),
      env: { ...process.env, ...snapshot.variables, TELL: argument },
    });
    return JSON.parse(stdout) as Told;
  }

  it('share no number, identity, randomness or time, and see what they were started with', async () => {
    const before = Date.now();
    const [one, two] = [await told('first'), await told('second')];
    expect(one).toMatchObject({ parent: process.pid, argument: 'first', variable: 'first', folder: tmpdir() });
    expect(two).toMatchObject({ parent: process.pid, argument: 'second', variable: 'second', folder: tmpdir() });
    expect(one.pid).not.toBe(two.pid);
    expect(one.uuid).not.toBe(two.uuid);
    expect(one.random).not.toBe(two.random);
    expect(one.now).toBeGreaterThanOrEqual(before);
    expect(two.now).toBeGreaterThan(one.now);
  });

  it('fail when they wait for what never comes, and count as no killed one', async () => {
    await expect(told('never')).rejects.toMatchObject({ code: 13, signal: null });
  });

  it('can do what they replaced in Node, listen, and start others', async () => {
    expect(await told('')).toMatchObject({ child: 'from a child', reads: 1 });
  });
});

describe('a host', () => {
  it('that asks for a file that is not in its snapshot fails with its name', async () => {
    const snapshot = await hostSnapshot(HOST, []);
    try {
      await expect(promisify(execFile)(process.execPath, [...snapshot.parameters])).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('not in the snapshot: actors/clock/system-clock.js') as string,
      });
    } finally {
      await snapshot.remove();
    }
  });
});
