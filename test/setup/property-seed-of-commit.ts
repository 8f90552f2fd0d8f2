/**
 * What properties draw their cases from: the commit, so that each commit tries other cases and every run of one commit
 * tries the same. What passed before a push passes after it, and what failed fails again. `WAKECHART_PROPERTY_SEED` takes
 * another, a number or `random`.
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** An integer of 32 bits. */
    readonly propertySeed: number;
  }
}

export function setup(project: TestProject): void {
  project.provide('propertySeed', seedOf(process.env['WAKECHART_PROPERTY_SEED']));
}

function seedOf(asked: string | undefined): number {
  if (asked === 'random') return randomInt(2 ** 31);
  if (asked === undefined || asked === '') return seedOfCommit();
  if (!/^-?\d{1,10}$/.test(asked))
    throw new Error(`WAKECHART_PROPERTY_SEED is an integer of 32 bits or "random", not "${asked}".`);
  return Number(asked) | 0;
}

/** Of sources without a repository, any. */
function seedOfCommit(): number {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return Number.parseInt(commit.slice(0, 8), 16) | 0;
  } catch {
    return randomInt(2 ** 31);
  }
}
