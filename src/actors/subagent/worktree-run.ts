/**
 * The worktree of one job: made before the agent starts, checked when nothing of it runs any more, then removed or
 * kept. Nothing in it is ever lost.
 */
import type { StateValueFrom } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeHookEvent, WorktreeHookInput } from '../../machines/subagent/hook-config.ts';
import { sessionOf } from '../../machines/subagent/subagent-request.ts';
import type {
  WorktreeFinding,
  WorktreeHandoff,
  WorktreeInspection,
} from '../../machines/subagent/worktree-findings.ts';
import { worktreeLifecycle } from '../../machines/subagent/worktree-machine.ts';
import type { WorktreeChartEvent, worktreeMachine } from '../../machines/subagent/worktree-machine.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { ADAPTER_INVALID } from './adapter-access.ts';
import type { AdapterAccess } from './adapter-access.ts';
import { ChartedLife } from '../charted-life.ts';
import type { SubagentJobRequest, SubagentJobStart } from './subagent-runner.ts';
import type { PreparedSubagentWorktree } from './worktree-adapter.ts';
import { handoffMetadata, handoffOfWorktree, handoffProgress, nextActionOf } from './worktree-handoff.ts';
import type { WorktreeHookRunner } from './worktree-hooks.ts';

export interface WorktreeRunPorts {
  readonly access: AdapterAccess;
  readonly hooks: WorktreeHookRunner;
  /** The folder that takes what the runtime itself wrote into a worktree that goes. */
  readonly keepFilesIn: (start: SubagentJobStart) => string | undefined;
}

export class WorktreeRun {
  readonly #start: SubagentJobStart;
  readonly #ports: WorktreeRunPorts;
  readonly #life: ChartedLife<StateValueFrom<typeof worktreeMachine>, WorktreeChartEvent>;
  #worktree: PreparedSubagentWorktree | undefined = undefined;
  #nextAction: string | undefined = undefined;
  /** Reasons to keep it that its adapter cannot know of. */
  readonly #doubts: WorktreeFinding[] = [];
  readonly #problems: string[] = [];
  #findings: readonly WorktreeFinding[] = [];
  #statusText: string | undefined = undefined;
  #settled: Promise<void> | undefined = undefined;

  constructor(start: SubagentJobStart, ports: WorktreeRunPorts) {
    this.#start = start;
    this.#ports = ports;
    this.#life = new ChartedLife({ lifecycle: worktreeLifecycle, id: `${start.jobId}.worktree`, parent: start.parent });
  }

  /** What there is to say beside a result, or in the details of an error. */
  get metadata(): Readonly<Record<string, unknown>> {
    const handoff = this.#handoff();
    return {
      ...(handoff === undefined ? {} : handoffMetadata(handoff)),
      ...(this.#findings.length === 0 ? {} : { worktreeFindings: this.#findings }),
      ...(this.#statusText === undefined ? {} : { worktreeStatusText: this.#statusText }),
      ...(this.#problems.length === 0 ? {} : { worktreeProblems: [...this.#problems] }),
    };
  }

  /**
   * Makes the worktree and runs the create hooks. @returns the request as it is carried out in it. @throws when it
   * cannot be worked in
   */
  async prepare(): Promise<SubagentJobRequest> {
    const { request, signal } = this.#start;
    const worktree = await this.#create();
    const cwd = worktree.cwd ?? folderIn(worktree, request.cwd);
    refuseWhenStopped(signal);
    await this.#fire('WorktreeCreate', worktree, cwd, signal);
    try {
      await this.#ports.access.begin(worktree);
    } catch (error) {
      // What the hooks put there counts as work then, which costs nothing but the removal.
      this.#doubt('unknown', `what was there before the agent started could not be noted: ${messageOf(error)}`);
      this.#problems.push(`begin: ${messageOf(error)}`);
    }
    refuseWhenStopped(signal);
    return Object.freeze({ ...request, cwd, worktreePath: worktree.worktreePath, branchName: worktree.branchName });
  }

  /** Removes or keeps it, once: nothing of the job runs any more. Never rejects. */
  settle(): Promise<void> {
    this.#settled ??= this.#worktree === undefined ? Promise.resolve() : this.#settle(this.#worktree);
    return this.#settled;
  }

  /** Something may still run in it: it is kept, whatever is in it. Never rejects. */
  keep(why: string): Promise<void> {
    if (this.#settled === undefined) this.#doubt('in_use', why);
    return this.settle();
  }

  async #create(): Promise<PreparedSubagentWorktree> {
    const { jobId, request, signal } = this.#start;
    this.#move('CREATE');
    const key = sessionOf(request);
    const keepFilesIn = this.#ports.keepFilesIn(this.#start);
    let worktree: PreparedSubagentWorktree;
    try {
      worktree = await this.#ports.access.prepare({
        jobId,
        cwd: request.cwd,
        signal,
        ...(key === undefined ? {} : { key }),
        ...(keepFilesIn === undefined ? {} : { keepFilesIn }),
      });
    } catch (error) {
      // What cannot be found again may be there all the same.
      this.#life.move(RuntimeError.is(error) && error.code === ADAPTER_INVALID ? 'CREATE_UNKNOWN' : 'CREATE_FAILED');
      this.#start.emit({ type: 'background_task_progress', taskId: jobId, progress: { worktreeStatus: undefined } });
      throw error;
    }
    this.#worktree = worktree;
    this.#nextAction = worktree.nextAction;
    this.#move('CREATED');
    return worktree;
  }

  async #settle(worktree: PreparedSubagentWorktree): Promise<void> {
    const { access } = this.#ports;
    this.#move('INSPECT');
    const checked = this.#doubts.some(({ kind }) => kind === 'in_use') ? KEPT_UNSEEN : await access.inspect(worktree);
    const findings = [...checked.findings, ...this.#doubts];
    const inspection: WorktreeInspection = { ...checked, isClean: checked.isClean && findings.length === 0, findings };
    if (!inspection.isClean) return this.#preserve(worktree, inspection, 'DIRTY');
    this.#nextAction = undefined;
    this.#move('CLEAN');
    try {
      await access.remove(worktree);
    } catch (error) {
      this.#problems.push(`remove: ${messageOf(error)}`);
      const why: WorktreeFinding = { kind: 'unknown', text: `it could not be removed: ${messageOf(error)}` };
      return this.#preserve(worktree, { isClean: false, findings: [why] }, 'REMOVE_FAILED');
    }
    this.#move('REMOVED');
    try {
      await this.#fire('WorktreeRemove', worktree, this.#start.request.cwd, undefined);
    } catch (error) {
      this.#problems.push(`WorktreeRemove hook: ${messageOf(error)}`);
    }
  }

  async #preserve(
    worktree: PreparedSubagentWorktree,
    inspection: WorktreeInspection,
    event: 'DIRTY' | 'REMOVE_FAILED',
  ): Promise<void> {
    const { access } = this.#ports;
    const nextAction = nextActionOf(worktree, inspection);
    this.#findings = inspection.findings;
    this.#nextAction = nextAction;
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        this.#problems.push(`${what}: ${messageOf(error)}`);
      }
    };
    await attempt('getStatus', async () => {
      this.#statusText = await access.statusOf(worktree, inspection.findings);
    });
    await attempt('preserve', () => access.preserve(worktree, { ...inspection, nextAction }));
    this.#move(event);
  }

  async #fire(
    event: WorktreeHookEvent,
    worktree: PreparedSubagentWorktree,
    cwd: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { hooks } = this.#ports;
    if (!hooks.has(event)) return;
    const { jobId, request } = this.#start;
    const { worktreePath, branchName } = worktree;
    const input: WorktreeHookInput = {
      session_id: request.parentSessionId,
      cwd,
      hook_event_name: event,
      tool_name: 'Agent',
      tool_input: {
        jobId,
        agentType: request.agentType,
        worktreePath,
        branchName,
        removed: event === 'WorktreeRemove',
      },
    };
    try {
      await hooks.fire({ input, cwd, signal });
    } catch (error) {
      if (error instanceof BackgroundTaskError && error.details?.['isRunning'] === true)
        this.#doubt('in_use', error.message);
      throw error;
    }
  }

  #doubt(kind: WorktreeFinding['kind'], text: string): void {
    this.#doubts.push({ kind, text });
  }

  #move(event: WorktreeChartEvent['type']): void {
    if (!this.#life.move(event)) return;
    const handoff = this.#handoff();
    const progress = handoff === undefined ? { worktreeStatus: this.#life.state } : handoffProgress(handoff);
    this.#start.emit({ type: 'background_task_progress', taskId: this.#start.jobId, progress });
  }

  #handoff(): WorktreeHandoff | undefined {
    // Before there is a worktree there is nothing to hand over, and the chart never comes back to that.
    const status = this.#life.state as WorktreeHandoff['worktreeStatus'];
    return this.#worktree === undefined ? undefined : handoffOfWorktree(this.#worktree, status, this.#nextAction);
  }
}

/** No code examines a worktree in which something may still be running. */
const KEPT_UNSEEN: WorktreeInspection = { isClean: false, findings: [] };

/** The folder that `cwd` is in the worktree; its root when `cwd` is not below that of the repository. */
function folderIn({ repoRoot, worktreePath }: PreparedSubagentWorktree, cwd: string): string {
  const below = cwd.startsWith(`${repoRoot}/`) ? cwd.slice(repoRoot.length + 1).split('/') : [];
  return below.includes('..')
    ? worktreePath
    : [worktreePath, ...below.filter((part) => part !== '' && part !== '.')].join('/');
}

function refuseWhenStopped(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new BackgroundTaskError('runner', `the job was stopped before its agent started: ${messageOf(signal.reason)}`, {
    code: 'SUBAGENT_STOPPED',
  });
}
