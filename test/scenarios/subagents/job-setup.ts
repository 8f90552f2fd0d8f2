/**
 * A home, a repository and a runtime with real workers in a temporary folder, and agents whose models say what is
 * written down.
 */
import { existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import type { NodeSubagentOptions } from '../../../src/node/subagents.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { git, makeRepository } from '../../adapters/git/git-setup.ts';
import type { KindOfWork } from './kinds-of-work.ts';

/** For what hangs; nothing that is only slow comes near it. */
const PATIENCE_MS = 120_000;

const PARENT_AGENT = 'parent';

export interface JobSetup {
  /** Holds all the others, and what tests put there. */
  readonly folder: string;
  readonly home: string;
  readonly repository: string;
  /** Gets a file for each command that has done its work. */
  readonly marks: string;
  /** The one opened last. */
  readonly runtime: NodeRuntime;
  open(options?: OpenOptions): Promise<NodeRuntime>;
  /** Writes, or overwrites, an agent. */
  agent(id: string, steps: readonly object[], frontmatter?: string): Promise<void>;
  /** A session that jobs may work for. */
  parent(): Promise<string>;
  remove(): Promise<void>;
}

export interface OpenOptions {
  readonly clock?: Clock | undefined;
  readonly subagents?: NodeSubagentOptions | undefined;
  readonly maxConcurrentTasks?: number | undefined;
}

/** Enough for every kind of work at once. */
export const ROOMY = { maxConcurrent: 40, maxJobsPerParent: 64 } as const;

export async function jobSetup(): Promise<JobSetup> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'jobs-')));
  const [home, repository, marks] = [join(folder, 'home'), join(folder, 'repository'), join(folder, 'marks')];
  makeRepository(repository);
  await mkdir(marks);
  await mkdir(home, { mode: 0o700 });
  const opened: NodeRuntime[] = [];
  const agent = (id: string, steps: readonly object[], frontmatter?: string): Promise<void> =>
    writeAgent(home, id, steps, frontmatter);
  await agent(PARENT_AGENT, [{ text: 'Heard.' }]);
  return {
    folder,
    home,
    repository,
    marks,
    get runtime() {
      const runtime = opened.at(-1);
      if (runtime === undefined) throw new Error('no runtime has been opened');
      return runtime;
    },
    async open({ subagents, ...options } = {}) {
      const runtime = await createNodeRuntime({ home, ...options, subagents: { limits: ROOMY, ...subagents } });
      opened.push(runtime);
      return runtime;
    },
    agent,
    async parent() {
      return (await opened.at(-1)!.sessions.create({ agentId: PARENT_AGENT })).sessionId;
    },
    async remove() {
      for (const runtime of opened) await runtime.shutdown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function writeAgent(
  home: string,
  id: string,
  steps: readonly object[],
  frontmatter = 'permission: preapproved\n',
): Promise<void> {
  const folder = join(home, 'agents', id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: ${id}\nprovider: script\nmodel: play.json\n${frontmatter}---\n\nWork.\n`,
  );
}

export const runs = (command: string): object => ({ toolCalls: [{ name: 'shell_run', input: { command } }] });

/** Does the work, says so by a mark that is named after it, and goes on until it is stopped. */
export const lingering = ({ command, name }: KindOfWork, marks: string): object =>
  runs(`(${command}) && touch '${marks}/${name}' && exec sleep 3600`);

/** Does the work, says so by a mark, and ends. */
export const working = ({ command, name }: KindOfWork, marks: string): object =>
  runs(`(${command}) && touch '${marks}/${name}'`);

/** Resolves once each has done its work. */
export async function allMarked(
  { marks }: Pick<JobSetup, 'marks'>,
  work: readonly Pick<KindOfWork, 'name'>[],
): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const missing = work.filter(({ name }) => !existsSync(join(marks, name)));
    if (missing.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new Error(`no work was done of ${missing.map(({ name }) => name).join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function jobFor(
  setup: Pick<JobSetup, 'repository'>,
  type: string,
  parentSessionId: string | undefined,
  more: Partial<SubagentSpawnRequest> = {},
): SubagentSpawnRequest {
  return {
    type,
    prompt: 'Go.',
    cwd: setup.repository,
    isolation: 'worktree',
    permissionPolicy: 'preapproved',
    ...(parentSessionId === undefined ? {} : { parentSessionId }),
    ...more,
  };
}

/** Where anything of a worktree is left: nowhere, when it was removed. */
export function tracesOf(
  { home, repository }: Pick<JobSetup, 'home' | 'repository'>,
  { worktreePath, branchName }: { readonly worktreePath: string; readonly branchName: string },
  names: readonly string[],
): string[] {
  const id = worktreePath.split('/').at(-1) ?? '';
  return [
    ...names.filter((name) => name.startsWith(id)).map((name) => join(home, 'worktrees', name)),
    ...(git(repository, 'for-each-ref', `refs/heads/${branchName}`) === '' ? [] : [`branch ${branchName}`]),
    ...(existsSync(join(repository, '.git/worktrees', id)) ? [`git folder of ${id}`] : []),
    ...(existsSync(join(repository, '.git/logs/refs/heads', branchName)) ? [`history of ${branchName}`] : []),
  ];
}
