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
  'runtime/crash-matrix',
  'scenarios/subagents/endings-processes',
  'runtime/crash-improvement',
  'adapters/postgres/server-crash-matrix-processes',
  'deploy/image-processes',
  'docs/code-processes',
  'scenarios/subagents/many-processes',
  'scenarios/subagents/dead-parent-processes',
  'adapters/git/lost-work',
  'cli/store-copy-processes',
  'cli/stuck-homes-processes',
  'cli/chat-processes',
  'adapters/postgres/pooler-processes',
  'scenarios/improvement/ended-workers-processes',
  'adapters/postgres/chaos-full-disk-processes',
  'adapters/git/reconcile',
  'adapters/postgres/roles-contracts-processes',
].map((name) => `/test/${name}.test.ts`);

/**
 * Files that start many processes, before those that start few, before those that start none. To start one, a process
 * copies the tables of all its memory, and one that has run hundreds of files has five times that of a young one: it
 * takes twice the processor time, of the child too.
 */
const STARTING = [
  /\/test\/adapters\/(?:acp|bubblewrap|child-process|cli-agent|file-tools|git|mcp|process-tree|shell|system)\//,
  /\/test\/(?:actors\/shell|adapters\/(?:environment-files|health|host-life|shell-syntax|subagent-hooks))\//,
  /\/test\/(?:adapters\/postgres|cli|fuzz|runtime|scenarios)\//,
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(name));
  if (rank !== -1) return rank;
  const starting = STARTING.findIndex((folder) => folder.test(moduleId));
  return LONGEST.length + (starting === -1 ? STARTING.length : starting);
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
