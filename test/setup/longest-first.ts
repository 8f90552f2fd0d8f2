/** In which order the files run. */
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/**
 * Files that take half a minute to minutes, the longest first: each starts hundreds of processes or waits for real time,
 * and is short to read. Where nothing is known of earlier runs, Vitest begins with the largest files, so that these
 * would be left for the end, when the other workers have nothing to do.
 */
const LONGEST = [
  'adapters/postgres/crash-matrix-processes',
  'scenarios/subagents/endings-processes',
  'runtime/crash-matrix',
  'runtime/crash-improvement',
  'scenarios/subagents/dead-parent-processes',
  'adapters/git/lost-work',
  'cli/stuck-homes-processes',
  'scenarios/subagents/many-processes',
  'adapters/postgres/server-crash-matrix-processes',
  'scenarios/improvement/ended-workers-processes',
  'docs/long-pages-processes',
  'adapters/postgres/crash-processes',
  'adapters/process-tree/reconcile',
].map((name) => `/test/${name}.test.ts`);

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return rank === -1 ? LONGEST.length : rank;
};

/** All others within a project; the projects stay in their order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects
      .flatMap((project) => sorted.filter((file) => file.project === project))
      .toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
