/**
 * The parts of a Node runtime that subagents need: processes of their own, worktrees in the home, records of jobs. Most
 * runs of most programs use none of them, so each is loaded with its first use.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../actors/clock/clock.ts';
import type { FolderChanges } from '../actors/inspection/folder-changes.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import type { AgentCatalog } from '../actors/session/agent-catalog.ts';
import type { SubagentPorts } from '../actors/subagent/subagent-services.ts';
import type { SubagentRunner } from '../actors/subagent/subagent-runner.ts';
import type { WorkerKeysRequest } from '../actors/subagent/worker-keys.ts';
import type { WorktreeStore } from '../actors/subagent/worktree-adapter.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import type { ChildProcessSubagentRunner } from '../adapters/child-process/child-process-runner.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { isInhabited } from '../adapters/system/whole-files.ts';
import type { WorktreeHooks } from '../machines/subagent/hook-config.ts';
import type { SubagentLimitsInput } from '../machines/subagent/subagent-limits.ts';
import type { ProviderTable } from '../machines/run/provider-settings.ts';
import { nodeJobRecords } from './jobs.ts';
import type { NodeStore, NodeStoreOptions } from './node-store.ts';
import type { InspectedFolders } from '../actors/inspection/runtime-inspection.ts';

const WORKTREES_FOLDER = 'worktrees';
const TRANSCRIPTS_FOLDER = 'transcripts';

/** Says to the runtime of a worker how many workers stand above it. */
const LEVEL_VARIABLE = 'WAKECHART_SUBAGENT_LEVEL';

export interface NodeSubagentOptions {
  /** Where jobs run that do not say. Default `process`: each in one of its own. */
  readonly run?: 'process' | 'in-process' | undefined;
  /** Workers that are kept loaded and wait, so that a job begins at once. Default 0. */
  readonly warmWorkers?: number | undefined;
  /** How many there may be: at once, of one parent, above each other. */
  readonly limits?: SubagentLimitsInput | undefined;
  /**
   * How long a worker that was asked to end may take before it gets SIGTERM, and then before SIGKILL, in milliseconds.
   * Default 2000.
   */
  readonly killGraceMs?: number | undefined;
  /** Variables of workers besides the usual ones. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Begins the names of branches: `<prefix>/<job>-<id>`. Default `wakechart`. */
  readonly branchPrefix?: string | undefined;
  /** Run when a worktree has been made for a job, and when it has been removed: functions, or commands. */
  readonly hooks?: WorktreeHooks | undefined;
  /** How long one hook may take that does not say itself, in milliseconds. Default 60,000. */
  readonly hookTimeoutMs?: number | undefined;
}

const object = z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected an object');

/** Only the names: each part checks what it is given. */
export const nodeSubagentOptions = z.strictObject({
  run: z.enum(['process', 'in-process']).optional(),
  warmWorkers: z.number().int().nonnegative().max(64).optional(),
  limits: object.optional(),
  killGraceMs: z.number().nonnegative().optional(),
  env: z.record(z.string(), z.string()).optional(),
  branchPrefix: z.string().min(1).optional(),
  hooks: object.optional(),
  hookTimeoutMs: z.number().positive().optional(),
} satisfies Record<keyof NodeSubagentOptions, z.ZodType>);

export interface NodeSubagentParts {
  readonly layout: HomeLayout;
  readonly agents: AgentCatalog;
  readonly clock: Clock;
  readonly processTree: ProcessTree;
  readonly hostLife: HostLife;
  readonly providers: ProviderTable | undefined;
  readonly humans: 'reachable' | 'none' | undefined;
  /** Of agents that name none: in a worker the same as here. Undefined: `host`. */
  readonly environment: string | undefined;
  readonly options: NodeSubagentOptions;
  /** The module, absolute, that gives workers what this process was given in code. */
  readonly config: string | undefined;
  /** The database that workers open too. Undefined: the files of the home. */
  readonly store: NodeStoreOptions | undefined;
  readonly modelOf: NodeStore['modelOf'];
  /** Undefined: records of jobs lie in the home. */
  readonly shared: NodeStore['jobs'];
}

export function nodeSubagents(parts: NodeSubagentParts): SubagentPorts {
  const { layout, options } = parts;
  const level = Number(process.env[LEVEL_VARIABLE] ?? 0) || 0;
  const processes = lazyRunner(() => openRunner(parts, level));
  const records = nodeJobRecords(parts);
  return {
    processRunner: processes,
    isInProcessByDefault: options.run === 'in-process',
    worktrees: lazyKeeper(parts),
    records,
    hooks: options.hooks,
    hookTimeoutMs: options.hookTimeoutMs,
    hookTypeExecutors: {
      command: async (...call) =>
        (await import('../adapters/subagent-hooks/command-hook.ts')).createCommandHookExecutor({
          processTree: parts.processTree,
        })(...call),
    },
    limits: { ...nested(level), ...options.limits },
    filesOf: (session) => layout.ownWorkspace(session),
    async close() {
      await processes.close();
      await records.close();
    },
  };
}

const USUAL_CONCURRENCY = 4;

/** The deeper, the fewer at once: or the processes of a tree of jobs would be a power of those of one. */
function nested(level: number): SubagentLimitsInput {
  return level === 0 ? {} : { maxConcurrent: Math.max(1, Math.floor(USUAL_CONCURRENCY / 2 ** level)) };
}

async function openRunner(
  {
    layout,
    agents,
    clock,
    processTree,
    providers,
    humans,
    environment,
    store,
    modelOf,
    config,
    options: { warmWorkers, killGraceMs, env },
  }: NodeSubagentParts,
  level: number,
): Promise<ChildProcessSubagentRunner> {
  const { ChildProcessSubagentRunner: Runner } = await import('../adapters/child-process/child-process-runner.ts');
  return new Runner({
    home: layout.home,
    clock,
    processTree,
    logsDir: join(layout.home, TRANSCRIPTS_FOLDER),
    env: { ...env, [LEVEL_VARIABLE]: String(level + 1) },
    keysFor: await keysOfHome({ layout, agents, clock, providers, modelOf }),
    ...(store === undefined ? {} : { store: { postgres: store.postgres, schema: store.schema } }),
    ...(providers === undefined ? {} : { providerConfig: { providers } }),
    ...(humans === undefined ? {} : { humans }),
    ...(environment === undefined ? {} : { environment }),
    ...(config === undefined ? {} : { config }),
    ...(warmWorkers === undefined ? {} : { warmWorkers }),
    ...(killGraceMs === undefined ? {} : { killGraceMs }),
  });
}

/** Looks up anew for each job what its agent needs: files of agents, providers and accounts may change meanwhile. */
async function keysOfHome({
  layout,
  agents,
  clock,
  providers: own,
  modelOf,
}: Pick<NodeSubagentParts, 'layout' | 'agents' | 'clock' | 'providers' | 'modelOf'>): Promise<
  (job: WorkerKeysRequest) => Promise<readonly string[]>
> {
  const [{ workerKeysOf }, { providersOfHome, profilesOfHome }] = await Promise.all([
    import('../actors/subagent/worker-keys.ts'),
    import('./backends.ts'),
  ]);
  const profiles = profilesOfHome({ home: layout.home, clock });
  return workerKeysOf({
    agents,
    providers: () => providersOfHome(layout.home, own),
    accounts: () => profiles.list(),
    modelOf: (agentId, sessionId) => modelOf({ agentId, sessionId }),
  });
}

function lazyRunner(open: () => Promise<ChildProcessSubagentRunner>): SubagentRunner & { close(): Promise<void> } {
  let opened: Promise<ChildProcessSubagentRunner> | undefined;
  const opening = (): Promise<ChildProcessSubagentRunner> =>
    (opened ??= open().catch((error: unknown) => {
      // What is mended meanwhile counts for the next call.
      opened = undefined;
      throw error;
    }));
  return {
    start: async (start) => (await opening()).start(start),
    // One that could not be opened has said so to the call that wanted it.
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

/** Where no worktree was ever made there is nothing to take care of, and git need not be there. */
function lazyKeeper({ layout, clock, hostLife, options: { branchPrefix } }: NodeSubagentParts): WorktreeStore {
  const worktreesDirectory = join(layout.home, WORKTREES_FOLDER);
  let opened: Promise<WorktreeStore> | undefined;
  const open = async (): Promise<WorktreeStore> => {
    const { createGitWorktreeIsolationAdapter } = await import('../adapters/git/git-worktree-adapter.ts');
    return createGitWorktreeIsolationAdapter({
      worktreesDirectory,
      clock,
      hostLife,
      ceilingDirectories: [layout.home],
      ...(branchPrefix === undefined ? {} : { branchPrefix }),
    });
  };
  const keeper = (): Promise<WorktreeStore> => (opened ??= open());
  const isThere = async (): Promise<boolean> => opened !== undefined || (await isInhabited(worktreesDirectory));
  return {
    prepare: async (request) => (await keeper()).prepare(request),
    isClean: async (worktree) => (await keeper()).isClean(worktree),
    inspect: async (worktree) => (await keeper()).inspect(worktree),
    begin: async (worktree) => (await keeper()).begin?.(worktree),
    remove: async (worktree) => (await keeper()).remove(worktree),
    preserve: async (worktree, inspection) => (await keeper()).preserve?.(worktree, inspection),
    list: async () => ((await isThere()) ? (await keeper()).list() : []),
    find: async (name) => (await keeper()).find(name),
    adopt: async (name, how) => (await keeper()).adopt(name, how),
    discard: async (name, how) => (await keeper()).discard(name, how),
    reconcile: async (how) => ((await isThere()) ? (await keeper()).reconcile(how) : []),
  };
}

/**
 * How inspectors see what sessions have changed: git is asked when an inspector asks.
 * @param place where private files are while git runs: in the home, or in a temporary folder of each question
 */
export function nodeFolderChanges(layout: HomeLayout, place: 'home' | 'elsewhere'): InspectedFolders {
  const read: FolderChanges['read'] = async (folder, check) => {
    const { createGitFolderChanges } = await import('../adapters/git/folder-changes.ts');
    const near =
      place === 'home' ? join(layout.home, WORKTREES_FOLDER) : await mkdtemp(join(tmpdir(), 'wakechart-look-'));
    try {
      return await createGitFolderChanges({ near, ceilingDirectories: [layout.home] }).read(folder, check);
    } finally {
      if (place === 'elsewhere') await rm(near, { recursive: true, force: true });
    }
  };
  return {
    folders: {
      read,
      underWay: async (folder) => (await import('../adapters/git/work-under-way.ts')).workUnderWay(folder),
      finished: async (folder, sinceMs) =>
        (await import('../adapters/git/work-under-way.ts')).workFinished(folder, sinceMs),
    },
    workspaceOf: (session) => session.workspace ?? layout.ownWorkspace(session),
  };
}
