/**
 * Processes that are killed while they promote: the next machine finds the version before or the one after, and never
 * a mix.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostSnapshot } from '../../support/host-snapshot.ts';
import type { HostSnapshot } from '../../support/host-snapshot.ts';
import { openMemorySetup } from '../../support/memory-setup.ts';
import type { MemorySetup } from '../../support/memory-setup.ts';
import { PROMOTING_LOADS } from './promoting-process.mjs';

const SCRIPT = fileURLToPath(new URL('./promoting-process.mjs', import.meta.url));
const AGENT = 'writer';

/** `CRASH_MATRIX=all` tries every operation; otherwise these many, evenly spread. */
const TRIED = process.env['CRASH_MATRIX'] === 'all' ? Infinity : 6;

let snapshot: HostSnapshot;
beforeAll(async () => {
  snapshot = await hostSnapshot(SCRIPT, PROMOTING_LOADS);
});
afterAll(() => snapshot.remove());

let setup: MemorySetup;
let folder: string;
beforeEach(async () => {
  setup = await openMemorySetup();
  folder = join(setup.agentDirectory(AGENT), 'substrate');
});
afterEach(() => setup.dispose());

interface Ended {
  readonly promoted: readonly number[];
  readonly operations: number | undefined;
  readonly signal: string | null;
}

async function promoting(when: 'before' | 'after', number: number, count = 1): Promise<Ended> {
  const child = spawn(
    process.execPath,
    [...snapshot.parameters, setup.agentDirectory(AGENT), when, String(number), String(count)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...snapshot.variables },
    },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  const operations = /^operations (\d+)$/m.exec(text)?.[1];
  return {
    promoted: [...text.matchAll(/^promoted (\d+)$/gm)].map((match) => Number(match[1])),
    operations: operations === undefined ? undefined : Number(operations),
    signal,
  };
}

/** What all files say that they are of, in the folder and as the store tells it. */
async function found(): Promise<{
  readonly version: number;
  readonly names: readonly string[];
  readonly contents: readonly string[];
}> {
  const { sharedFiles } = setup.open();
  const { version, files } = await sharedFiles.head(AGENT);
  const contents =
    version === 0
      ? []
      : await Promise.all(
          ['a.md', 'deep/b.md'].map(async (path) => [
            await readFile(join(folder, path), 'utf8'),
            new TextDecoder().decode(await sharedFiles.read(AGENT, path)),
          ]),
        );
  return { version, names: files.map(({ path }) => path), contents: contents.flat() };
}

describe('a process that is killed while it promotes', () => {
  it('leaves the version before or the one after, at whatever operation', async () => {
    expect((await promoting('after', 0, 2)).promoted).toEqual([1, 2]);
    const { operations = 0 } = await promoting('after', 0);
    expect(operations).toBeGreaterThan(20);
    const step = Math.max(1, operations / TRIED);
    let kills = 0;
    for (let number = 1; number <= operations; number += step) {
      for (const when of ['before', 'after'] as const) {
        const before = (await found()).version;
        const { promoted, signal } = await promoting(when, Math.floor(number));
        // One that finds less to do than the one that was counted comes to its end.
        if (signal === 'SIGKILL') kills += 1;
        else expect(promoted).toEqual([before + 1]);
        const { version, names, contents } = await found();
        expect([before, before + 1]).toContain(version);
        // What was said to be promoted is.
        expect(version).toBeGreaterThanOrEqual(promoted.at(-1) ?? 0);
        expect(names).toEqual(['a.md', 'deep/b.md', `only-${version}.md`]);
        expect(contents).toEqual([1, 2, 3, 4].map(() => `${version}`));
        expect((await readdir(folder)).toSorted()).toEqual(['a.md', 'deep', `only-${version}.md`]);
      }
    }
    expect(kills).toBeGreaterThan(Math.min(TRIED, operations) * 1.5);
    const makers = (await setup.open().sharedFiles.versions(AGENT, { limit: 200 })).map(({ by }) => by.kind);
    expect(new Set(makers)).toEqual(new Set(['session']));
  }, 300_000);
});

describe('processes that promote at the same time', () => {
  it('make one version each time, and none is lost', async () => {
    const all = await Promise.all([promoting('after', 0, 5), promoting('after', 0, 5), promoting('after', 0, 5)]);
    expect(all.flatMap(({ promoted }) => promoted).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
    expect(await found()).toMatchObject({ version: 15, contents: ['15', '15', '15', '15'] });
  }, 120_000);
});
