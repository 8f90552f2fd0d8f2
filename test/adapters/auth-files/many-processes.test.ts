/**
 * Real processes that share a home, and some that are killed: what was reported is kept, one probe is out at a time, a
 * file is the old one or the new one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileAuthProfiles } from '../../../src/adapters/auth-files/file-auth-profiles.ts';
import { createFileCandidateHealthStore } from '../../../src/adapters/auth-files/file-candidate-health-store.ts';
import { underLock } from '../../../src/adapters/system/process-lock.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const script = fileURLToPath(new URL('./auth-process.mjs', import.meta.url));
const OVERLOADED = { kind: 'failed', failure: { kind: 'overloaded', message: 'no' } } as const;

let home: TemporaryHome;
let directory: string;
beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'auth');
});
afterEach(() => home.remove());

const candidateHealth = (nowMs?: number) =>
  createFileCandidateHealthStore({ directory, clock: { now: () => nowMs ?? Date.now() }, exclusively: underLock });
const profiles = () =>
  createFileAuthProfiles({
    directory,
    clock: { steadyNow: () => 0 },
    environment: {},
    exclusively: underLock,
    runCommand: async () => ({ kind: 'failed', because: 'is not run here' }),
  });

interface Worker {
  readonly lines: readonly string[];
  readonly gone: Promise<{ readonly signal: string | null }>;
  /** Resolves when it has printed so many lines. */
  printed(count: number): Promise<void>;
  kill(): void;
}

function worker(...words: readonly string[]): Worker {
  const child = spawn(process.execPath, [script, directory, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  const gone = once(child, 'close').then(([, signal]: unknown[]) => ({
    signal: typeof signal === 'string' ? signal : null,
  }));
  const printed = async (count: number): Promise<void> => {
    while (lines.length < count) await once(child.stdout, 'data');
  };
  return { lines, gone, printed, kill: () => void child.kill('SIGKILL') };
}

describe.skipIf(process.platform === 'win32')('processes that share a home', () => {
  it('lose nothing that was reported, though some are killed in the middle', async () => {
    const survivors = ['a', 'b'].map((name) => worker('report', name, '20'));
    const victims: Worker[] = [];
    for (let round = 0; round < 3; round += 1) {
      const victim = worker('report', `victim${round}`, '1000');
      victims.push(victim);
      await victim.printed(2 + round);
      victim.kill();
      await victim.gone;
    }
    await Promise.all(survivors.map(({ gone }) => gone));
    expect(survivors.map(({ lines }) => lines.length)).toEqual([21, 21]);
    const kept = new Set((await candidateHealth().list()).map(({ candidate }) => candidate.model));
    const reported = [...survivors, ...victims].flatMap(({ lines }) => lines.filter((line) => line !== 'done'));
    expect(reported.filter((model) => !kept.has(model))).toEqual([]);
    // A kill may come between keeping and reporting: one more for each victim at most.
    expect(kept.size - reported.length).toBeLessThanOrEqual(victims.length);
  }, 60_000);

  it('have one probe out at a time', async () => {
    // Long enough ago that its rest is over, and not so long that it is forgotten.
    await candidateHealth(Date.now() - 3_600_000).report({ provider: 'p', model: 'm' }, OVERLOADED);
    const workers = [1, 2, 3].map(() => worker('probe', '60'));
    await Promise.all(workers.map(({ gone }) => gone));
    const marks = workers
      .flatMap(({ lines }) => lines.filter((line) => line !== 'done'))
      .map((line) => ({ isBegin: line.startsWith('+'), at: BigInt(line.slice(2)) }))
      .toSorted((one, other) => (one.at < other.at ? -1 : 1));
    expect(marks.length).toBeGreaterThan(2);
    expect(marks.map(({ isBegin }) => isBegin)).toEqual(marks.map((_, index) => index % 2 === 0));
    expect(await candidateHealth().list()).toMatchObject([{ state: 'cooling', failures: 1 }]);
  }, 60_000);
});

describe.skipIf(process.platform === 'win32')('a process that is killed before any change of a file', () => {
  it.each(['profiles', 'candidateHealth'])(
    'leaves the old %s or the new ones, and keeps nobody out',
    async (what) => {
      await profiles().add({ id: 'first', provider: 'p', secret: { env: 'FIRST' } });
      await candidateHealth().report({ provider: 'p', model: 'first' }, OVERLOADED);
      const names = async (): Promise<string[]> =>
        what === 'profiles'
          ? (await profiles().list()).map(({ id }) => id)
          : (await candidateHealth().list()).map(({ candidate }) => candidate.model);
      const forget = async (): Promise<unknown> => {
        if (what === 'profiles') return profiles().remove('second');
        await candidateHealth().reset();
        return candidateHealth().report({ provider: 'p', model: 'first' }, OVERLOADED);
      };
      const left = new Set<string>();
      let deaths = 0;
      for (let number = 0; ; number += 1) {
        const victim = worker('die', what, String(number));
        const { signal } = await victim.gone;
        const found = await names();
        left.add(found.join());
        expect(['first', 'first,second']).toContain(found.join());
        await forget();
        expect(await names()).toEqual(['first']);
        if (signal === null) {
          expect([victim.lines, found]).toEqual([['done'], ['first', 'second']]);
          break;
        }
        deaths += 1;
      }
      // It was killed on both sides of the moment that counts.
      expect([...left].toSorted()).toEqual(['first', 'first,second']);
      // The lock, the draft with its bytes on the disk, the name, the folder, and the lock again.
      expect(deaths).toBeGreaterThanOrEqual(8);
      expect((await readdir(directory)).filter((name) => !name.startsWith('.'))).toEqual([
        'profiles.json',
        'standings.json',
      ]);
    },
    60_000,
  );
});
