import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FilePolicyStore } from '../../../src/adapters/policy-files/file-policy-store.ts';
import { textsOf } from '../../contracts/policy-store.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const script = fileURLToPath(new URL('./policy-process.mjs', import.meta.url));

let home: TemporaryHome;
let directory: string;
beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'policy');
});
afterEach(() => home.remove());

interface Keeper {
  readonly child: ChildProcess;
  readonly gone: Promise<unknown>;
  /** What it has reported as kept. */
  readonly kept: string[];
}

function keeper(name: string, count: number): Keeper {
  const child = spawn(process.execPath, [script, directory, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kept: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    kept.push(...lines);
  });
  return { child, kept, gone: once(child, 'close') };
}

const rulesNow = async (): Promise<string[]> =>
  textsOf(await new FilePolicyStore({ directory, clock: Date }).rules('reviewer'));

describe.skipIf(process.platform === 'win32')('processes that keep rules of one agent at the same time', () => {
  it('lose none of them', async () => {
    const keepers = ['a', 'b', 'c'].map((name) => keeper(name, 12));
    await Promise.all(keepers.map(({ gone }) => gone));
    const kept = keepers.flatMap((each) => each.kept);
    expect(kept).toHaveLength(36);
    expect((await rulesNow()).toSorted()).toEqual(kept.toSorted());
    expect(await readdir(directory)).toEqual(['reviewer.yaml']);
  });

  it('lose none that was reported, though they are killed in the middle, and nobody waits for the dead', async () => {
    const survivor = keeper('survivor', 40);
    const victims: Keeper[] = [];
    for (let round = 0; round < 5; round += 1) {
      const victim = keeper(`victim${round}`, 1_000);
      victims.push(victim);
      while (victim.kept.length < 2 + round) await once(victim.child.stdout ?? process.stdin, 'data');
      victim.child.kill('SIGKILL');
      await victim.gone;
    }
    await survivor.gone;
    expect(survivor.kept).toHaveLength(40);
    const rules = new Set(await rulesNow());
    const reported = [survivor, ...victims].flatMap(({ kept }) => kept);
    expect(reported.filter((text) => !rules.has(text))).toEqual([]);
    // A kill may come between keeping and reporting: one more for each victim at most.
    expect(rules.size - reported.length).toBeLessThanOrEqual(victims.length);
  }, 60_000);
});
