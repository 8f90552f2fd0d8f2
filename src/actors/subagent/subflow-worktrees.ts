/**
 * Worktrees for the child sessions that answer calls: made before the child, settled once it has answered or will not
 * any more. Each one is an actor of the worktree chart while this process makes, keeps or settles it.
 */
import type { AnyActorRef, StateValueFrom } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeHandoff, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { worktreeLifecycle } from '../../machines/subagent/worktree-machine.ts';
import type {
  WorktreeChartEvent,
  WorktreeChartEventType,
  worktreeMachine,
} from '../../machines/subagent/worktree-machine.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { JournalCache } from '../session/journal-cache.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { ChartedLife } from '../charted-life.ts';
import { handoffOfWorktree } from './worktree-handoff.ts';
import type { KeptWorktree, PreparedSubagentWorktree, WorktreeStore, WorktreeRequest } from './worktree-adapter.ts';

export interface SubflowWorktrees {
  /**
   * The folder in which the child is to work. @throws RuntimeError WORKTREE_* when there can be none; nothing is left
   * behind then
   */
  prepare(child: SubflowChild): Promise<string>;
  /** One that another process made, which is gone, is this one's from here on. */
  keep(child: SubflowChild): Promise<void>;
  /**
   * Removes the worktree of a child if nothing in it could be lost, else keeps it. Undefined when there is none any
   * more.
   */
  settle(child: Pick<SubflowChild, 'parentSessionId' | 'childSessionId'>): Promise<WorktreeHandoff | undefined>;
  /** The same for all children of a session that is not waited for any more. */
  settleAll(parentSessionId: string): Promise<void>;
  /** Whether a call is open that the child in the worktree of this key answers: it will go on there. */
  isAwaited(key: string): Promise<boolean>;
}

export interface SubflowChild {
  readonly parentSessionId: string;
  readonly childSessionId: string;
  readonly agentId: string;
  /** Where the parent works: in a repository. */
  readonly parentWorkspace: string;
}

export interface SubflowWorktreesOptions {
  readonly keeper: WorktreeStore;
  /** The folder that takes what the runtime itself wrote for a session. Undefined: beside the worktree. */
  readonly filesOf: (session: SessionIdentity) => string | undefined;
  /** Ends what tools keep running for a session: its shells would be in the worktree still. */
  readonly closeSession: (sessionId: string) => Promise<void>;
  readonly journals: JournalCache;
  /** Of the actors. Absent: they stand alone. */
  readonly parent?: AnyActorRef | undefined;
  readonly onListenerError: OnListenerError;
}

type WorktreeLife = ChartedLife<StateValueFrom<typeof worktreeMachine>, WorktreeChartEvent>;

/** What a worktree has lived through that a process made which is gone. */
const FOUND = ['CREATE', 'CREATED', 'OWNER_LOST'] as const satisfies readonly WorktreeChartEventType[];

/** Characters of a session's id that tell its worktree apart for people. */
const SHORT_ID_CHARACTERS = 8;

export function createSubflowWorktrees(options: SubflowWorktreesOptions): SubflowWorktrees {
  return new KeptForCalls(options);
}

class KeptForCalls implements SubflowWorktrees {
  readonly #options: SubflowWorktreesOptions;
  /** Of those that are in use here, by key. */
  readonly #lives = new Map<string, WorktreeLife>();

  constructor(options: SubflowWorktreesOptions) {
    this.#options = options;
  }

  async prepare(child: SubflowChild): Promise<string> {
    const { keeper } = this.#options;
    const key = keyOf(child.parentSessionId, child.childSessionId);
    const life = this.#lifeOf(key, ['CREATE']);
    let worktree: PreparedSubagentWorktree | undefined;
    try {
      worktree = await keeper.prepare(this.#requestFor(child));
      // Only of a new one: what is in one that was worked in is work.
      await keeper.begin?.(worktree);
    } catch (error) {
      life.move(worktree === undefined ? 'CREATE_FAILED' : 'CREATE_UNKNOWN');
      this.#leave(key);
      throw error;
    }
    life.move('CREATED');
    return worktree.cwd ?? worktree.worktreePath;
  }

  async keep(child: SubflowChild): Promise<void> {
    await this.#options.keeper.prepare(this.#requestFor(child));
    this.#lifeOf(keyOf(child.parentSessionId, child.childSessionId), FOUND).move('ADOPT');
  }

  async settle({
    parentSessionId,
    childSessionId,
  }: Pick<SubflowChild, 'parentSessionId' | 'childSessionId'>): Promise<WorktreeHandoff | undefined> {
    const [worktree] = await this.#keptFor((key) => key === keyOf(parentSessionId, childSessionId));
    return worktree === undefined ? undefined : this.#settle(worktree, childSessionId);
  }

  async settleAll(parentSessionId: string): Promise<void> {
    const beginning = keyOf(parentSessionId, '');
    for (const worktree of await this.#keptFor((key) => key.startsWith(beginning))) {
      await this.#settle(worktree, (worktree.key ?? '').slice(beginning.length)).catch((error: unknown) =>
        this.#options.onListenerError(error, 'listener'),
      );
    }
  }

  async isAwaited(key: string): Promise<boolean> {
    const [parentSessionId, childSessionId] = key.split('/');
    if (parentSessionId === undefined || childSessionId === undefined) return false;
    try {
      const { openToolCalls } = (await this.#options.journals.open(parentSessionId)).state;
      return openToolCalls.some(
        ({ request }) => request?.kind === 'subflow' && request.childSessionId === childSessionId,
      );
    } catch (error) {
      // Of a log that cannot be read this is unknown.
      return !RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND';
    }
  }

  async #settle(worktree: KeptWorktree, childSessionId: string): Promise<WorktreeHandoff> {
    const { key = worktree.worktreePath } = worktree;
    const life = this.#lifeOf(key, FOUND);
    try {
      await this.#options.closeSession(childSessionId);
      life.move('INSPECT');
      return await this.#removeOrKeep(worktree, life);
    } finally {
      this.#leave(key);
    }
  }

  async #removeOrKeep(worktree: KeptWorktree, life: WorktreeLife): Promise<WorktreeHandoff> {
    const { keeper, onListenerError } = this.#options;
    const inspection = await inspected(keeper, worktree);
    life.move(inspection.isClean ? 'CLEAN' : 'DIRTY');
    if (!inspection.isClean) return preserved(keeper, worktree, inspection, onListenerError);
    try {
      await keeper.remove(worktree);
    } catch (error) {
      life.move('REMOVE_FAILED');
      // It is all there still: something came, or a person or process went in.
      const again = await inspected(keeper, worktree);
      const why = { kind: 'unknown', text: `it could not be removed: ${messageOf(error)}` } as const;
      return preserved(
        keeper,
        worktree,
        { ...again, isClean: false, findings: [...again.findings, why] },
        onListenerError,
      );
    }
    life.move('REMOVED');
    return handoffOfWorktree(worktree, 'removed', undefined);
  }

  /** The actor of a worktree; a new one has lived through `before`. */
  #lifeOf(key: string, before: readonly WorktreeChartEventType[]): WorktreeLife {
    const known = this.#lives.get(key);
    if (known !== undefined) return known;
    const life: WorktreeLife = new ChartedLife({
      lifecycle: worktreeLifecycle,
      id: `${key}.worktree`,
      parent: this.#options.parent,
    });
    this.#lives.set(key, life);
    for (const event of before) life.move(event);
    return life;
  }

  /** What stays on the disk is on record there; no code here is at it any more. */
  #leave(key: string): void {
    this.#lives.get(key)?.end();
    this.#lives.delete(key);
  }

  #requestFor({ parentSessionId, childSessionId, agentId, parentWorkspace }: SubflowChild): WorktreeRequest {
    const keepFilesIn = this.#options.filesOf({ sessionId: childSessionId, agentId });
    const jobId = `${agentId}-${childSessionId.slice(-SHORT_ID_CHARACTERS)}`;
    return {
      jobId,
      cwd: parentWorkspace,
      key: keyOf(parentSessionId, childSessionId),
      ...(keepFilesIn === undefined ? {} : { keepFilesIn }),
    };
  }

  async #keptFor(isWanted: (key: string) => boolean): Promise<readonly KeptWorktree[]> {
    return (await this.#options.keeper.list()).filter(({ key }) => key !== undefined && isWanted(key));
  }
}

/** What an inspection says; one that fails finds that it is unknown. */
async function inspected(keeper: WorktreeStore, worktree: PreparedSubagentWorktree): Promise<WorktreeInspection> {
  try {
    return await keeper.inspect(worktree);
  } catch (error) {
    const hint = RuntimeError.is(error) ? error.hint : undefined;
    return {
      isClean: false,
      findings: [{ kind: 'unknown', text: messageOf(error) }],
      ...(hint === undefined ? {} : { nextAction: hint }),
    };
  }
}

async function preserved(
  keeper: WorktreeStore,
  worktree: KeptWorktree,
  inspection: WorktreeInspection,
  onListenerError: OnListenerError,
): Promise<WorktreeHandoff> {
  try {
    await keeper.preserve?.(worktree, inspection);
  } catch (error) {
    // It stays whether or not its record says so.
    onListenerError(error, 'listener');
  }
  return handoffOfWorktree(worktree, 'preserved', inspection.nextAction);
}

function keyOf(parentSessionId: string, childSessionId: string): string {
  return `${parentSessionId}/${childSessionId}`;
}
