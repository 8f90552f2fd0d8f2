/**
 * Subagents that do exactly what the test says, when it says it; worktrees that exist only in memory; records and logs
 * of the same kind.
 */
import type { FoundJobRecord, JobRecords } from '../../src/actors/subagent/job-records.ts';
import type { EndedJob, StartedJob, SubagentLog } from '../../src/actors/subagent/subagent-log.ts';
import type {
  SubagentJobHandle,
  SubagentJobResult,
  SubagentJobStart,
  SubagentRunner,
} from '../../src/actors/subagent/subagent-runner.ts';
import type {
  KeptWorktree,
  PreparedSubagentWorktree,
  SubagentWorktreeAdapter,
  WorktreeRequest,
} from '../../src/actors/subagent/worktree-adapter.ts';
import type { JobRecord } from '../../src/machines/subagent/job-record.ts';
import type { SubagentSpawnRequest } from '../../src/machines/subagent/subagent-request.ts';
import type { AgentTaskRequest } from '../../src/machines/task/task-request.ts';
import type { BackgroundTaskRunnerEvent } from '../../src/machines/task/task-state.ts';

/** An event without the id, which the work adds. */
type Said = BackgroundTaskRunnerEvent extends infer Event
  ? Event extends { taskId: string }
    ? Omit<Event, 'taskId'>
    : never
  : never;

export const jobRequest = (changes: Partial<SubagentSpawnRequest> = {}): SubagentSpawnRequest => ({
  type: 'fixer',
  prompt: 'Fix it.',
  cwd: '/repo',
  ...changes,
});

export const agentTask = (changes: Partial<AgentTaskRequest> = {}): AgentTaskRequest =>
  Object.freeze({
    kind: 'agent',
    label: 'fixer',
    mode: 'background',
    parentSessionId: 'session_1',
    depth: 0,
    cwd: '/repo',
    priority: 0,
    agentType: 'fixer',
    prompt: 'Fix it.',
    permissionPolicy: 'inherit-allowlist',
    ...changes,
  });

export class ScriptedWork {
  readonly start: SubagentJobStart;
  readonly prompts: string[] = [];
  readonly answers: { readonly requestId: string; readonly allowed: boolean }[] = [];
  readonly cancelReasons: (string | undefined)[] = [];
  /** Set before a cancel: what it answers. Default: it is gone at once. */
  onCancel: () => Promise<void> | void = () => undefined;
  resolve!: (result?: Partial<SubagentJobResult>) => void;
  reject!: (error: unknown) => void;
  readonly result: Promise<SubagentJobResult>;

  constructor(start: SubagentJobStart) {
    this.start = start;
    this.result = new Promise((resolve, reject) => {
      this.resolve = (result = {}) => resolve({ jobId: start.jobId, output: 'done', ...result });
      this.reject = reject;
    });
    this.result.catch(() => undefined);
  }

  say(event: Said): void {
    this.start.emit({ ...event, taskId: this.start.jobId });
  }
}

export interface ScriptedRunner extends SubagentRunner {
  readonly works: ScriptedWork[];
  of(jobId: string): ScriptedWork;
  /** What a start does before it gives its handle. Default: nothing. */
  onStart: (start: SubagentJobStart) => Promise<void> | void;
}

export function createScriptedRunner(handle: Partial<SubagentJobHandle> = {}): ScriptedRunner {
  const works: ScriptedWork[] = [];
  const handleOf = (work: ScriptedWork): SubagentJobHandle => ({
    jobId: work.start.jobId,
    result: work.result,
    cancel: (reason) => {
      work.cancelReasons.push(reason);
      return work.onCancel();
    },
    send: (prompt) => {
      work.prompts.push(prompt);
    },
    answerPermission: (requestId, allowed) => {
      work.answers.push({ requestId, allowed });
    },
    ...handle,
  });
  const runner: ScriptedRunner = {
    works,
    onStart: () => undefined,
    of(jobId) {
      const work = works.find((candidate) => candidate.start.jobId === jobId);
      if (work === undefined) throw new Error(`job ${jobId} was not started`);
      return work;
    },
    start(start) {
      const work = new ScriptedWork(start);
      works.push(work);
      const prepared = runner.onStart(start);
      return prepared instanceof Promise ? prepared.then(() => handleOf(work)) : handleOf(work);
    },
  };
  return runner;
}

export type WorktreeContent = 'clean' | 'dirty' | 'unknown';

export interface MemoryWorktrees extends SubagentWorktreeAdapter {
  /** By path: what is there now, removed ones left out. */
  readonly present: Map<string, PreparedSubagentWorktree & { readonly jobId: string }>;
  readonly calls: string[];
  /** What an inspection of those that are made from now on finds. */
  content: WorktreeContent;
  /** Called before each call does its work; what it throws the call throws. */
  before: (method: string) => Promise<void> | void;
  list(): Promise<readonly KeptWorktree[]>;
  /** Changes what an inspection of one finds. */
  put(worktreePath: string, content: WorktreeContent): void;
}

/** Worktrees of a repository at /repo. */
export function createMemoryWorktrees(): MemoryWorktrees {
  const contents = new Map<string, WorktreeContent>();
  let made = 0;
  const called = async (method: string): Promise<void> => {
    worktrees.calls.push(method);
    await worktrees.before(method);
  };
  const worktrees: MemoryWorktrees = {
    present: new Map(),
    calls: [],
    content: 'clean',
    before: () => undefined,
    put: (worktreePath, content) => void contents.set(worktreePath, content),
    async prepare({ jobId, signal }: WorktreeRequest) {
      await called('prepare');
      signal?.throwIfAborted();
      made += 1;
      const worktreePath = `/worktrees/${jobId}-${made}`;
      const worktree = {
        jobId,
        repoRoot: '/repo',
        worktreePath,
        branchName: `agents/${jobId}-${made}`,
        baseRevision: 'abc',
        parentStatus: '1 changed file',
        nextAction: 'wait',
      };
      worktrees.present.set(worktreePath, worktree);
      contents.set(worktreePath, worktrees.content);
      return worktree;
    },
    async begin() {
      await called('begin');
    },
    async isClean(worktree) {
      return (await worktrees.inspect?.(worktree))?.isClean ?? false;
    },
    async inspect({ worktreePath }) {
      await called('inspect');
      const content = contents.get(worktreePath);
      if (content === 'unknown') throw new Error('git hangs');
      if (content === 'clean') return { isClean: true, findings: [] };
      return {
        isClean: false,
        findings: [{ kind: 'committed', text: 'one commit' }],
        nextAction: `git merge ${worktreePath}`,
      };
    },
    async getStatus() {
      await called('getStatus');
      return 'one commit ahead';
    },
    async remove({ worktreePath }) {
      await called('remove');
      if (contents.get(worktreePath) !== 'clean' || !worktrees.present.delete(worktreePath))
        throw new Error('not clean');
    },
    async preserve() {
      await called('preserve');
    },
    async list() {
      return [...worktrees.present.values()].map((worktree) => ({
        ...worktree,
        id: worktree.worktreePath,
        status: 'ready',
        createdAt: '',
        isOwned: false,
        findings: [],
      }));
    },
  };
  return worktrees;
}

export interface MemoryRecords extends JobRecords {
  readonly stored: Map<string, JobRecord>;
  readonly outputs: Map<string, string>;
  readonly calls: string[];
  before: (call: string) => Promise<void> | void;
  /** Jobs of processes that are gone. */
  readonly orphans: Set<string>;
}

export function createMemoryRecords(): MemoryRecords {
  let last = 0;
  const called = async (call: string): Promise<void> => {
    records.calls.push(call);
    await records.before(call);
  };
  const records: MemoryRecords = {
    stored: new Map(),
    outputs: new Map(),
    calls: [],
    orphans: new Set(),
    before: () => undefined,
    async create(make) {
      await called('create');
      const record = make(`agent_${(last += 1)}`);
      records.stored.set(record.jobId, record);
      return record;
    },
    async write(record) {
      await called(`write ${record.stage}`);
      if (records.stored.has(record.jobId)) records.stored.set(record.jobId, record);
    },
    async list() {
      return [...records.stored.values()].map((record): FoundJobRecord => ({
        kind: 'record',
        record,
        owner: records.orphans.has(record.jobId) ? 'gone' : 'alive',
      }));
    },
    async takeOver(jobId) {
      return records.orphans.delete(jobId) ? records.stored.get(jobId) : undefined;
    },
    async keepOutput(jobId, output) {
      await called('keepOutput');
      records.outputs.set(jobId, output);
      return { path: `/kept/${jobId}`, bytes: Buffer.byteLength(output) };
    },
    async remove(jobId) {
      await called('remove');
      records.stored.delete(jobId);
    },
  };
  return records;
}

export interface MemoryLog extends SubagentLog {
  readonly told: (readonly ['started', StartedJob] | readonly ['ended', EndedJob])[];
  before: (call: 'started' | 'ended') => Promise<void> | void;
}

export function createMemoryLog(): MemoryLog {
  const log: MemoryLog = {
    told: [],
    before: () => undefined,
    async started(job) {
      await log.before('started');
      log.told.push(['started', job]);
    },
    async ended(job) {
      await log.before('ended');
      log.told.push(['ended', job]);
    },
  };
  return log;
}
