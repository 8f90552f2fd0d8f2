/** Worktrees for the child sessions that answer calls: made before the child, settled once it has answered or will not any more. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeHandoff, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { JournalCache } from '../session/journal-cache.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { handoffOfWorktree } from './worktree-handoff.ts';
import type { KeptWorktree, PreparedSubagentWorktree, WorktreeKeeper, WorktreeRequest } from './worktree-adapter.ts';

export interface SubflowWorktrees {
  /** The folder in which the child is to work. @throws RuntimeError WORKTREE_* when there can be none; nothing is left behind then */
  prepare(child: SubflowChild): Promise<string>;
  /** One that another process made, which is gone, is this one's from here on. */
  keep(child: SubflowChild): Promise<void>;
  /** Removes the worktree of a child if nothing in it could be lost, else keeps it. Undefined when there is none any more. */
  settle(child: Pick<SubflowChild, 'parentSessionId' | 'childSessionId'>): Promise<WorktreeHandoff | undefined>;
  /** The same for all children of a session that nobody waits for any more. */
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
  readonly keeper: WorktreeKeeper;
  /** The folder that takes what the runtime itself wrote for a session. Undefined: beside the worktree. */
  readonly filesOf: (session: SessionIdentity) => string | undefined;
  /** Ends what tools keep running for a session: its shells would be in the worktree still. */
  readonly closeSession: (sessionId: string) => Promise<void>;
  readonly journals: JournalCache;
  readonly onListenerError: OnListenerError;
}

/** Characters of a session's id that tell its worktree apart for people. */
const SHORT_ID_CHARACTERS = 8;

export function createSubflowWorktrees(options: SubflowWorktreesOptions): SubflowWorktrees {
  return new KeptForCalls(options);
}

class KeptForCalls implements SubflowWorktrees {
  readonly #options: SubflowWorktreesOptions;

  constructor(options: SubflowWorktreesOptions) {
    this.#options = options;
  }

  async prepare(child: SubflowChild): Promise<string> {
    const { keeper } = this.#options;
    const worktree = await keeper.prepare(this.#requestFor(child));
    // Only of a new one: what is in one that was worked in is work.
    await keeper.begin?.(worktree);
    return worktree.cwd ?? worktree.worktreePath;
  }

  async keep(child: SubflowChild): Promise<void> {
    await this.#options.keeper.prepare(this.#requestFor(child));
  }

  async settle({ parentSessionId, childSessionId }: Pick<SubflowChild, 'parentSessionId' | 'childSessionId'>): Promise<WorktreeHandoff | undefined> {
    const [worktree] = await this.#keptFor((key) => key === keyOf(parentSessionId, childSessionId));
    return worktree === undefined ? undefined : this.#settle(worktree, childSessionId);
  }

  async settleAll(parentSessionId: string): Promise<void> {
    const beginning = keyOf(parentSessionId, '');
    for (const worktree of await this.#keptFor((key) => key.startsWith(beginning))) {
      await this.#settle(worktree, (worktree.key ?? '').slice(beginning.length)).catch((error: unknown) => this.#options.onListenerError(error, 'listener'));
    }
  }

  async isAwaited(key: string): Promise<boolean> {
    const [parentSessionId, childSessionId] = key.split('/');
    if (parentSessionId === undefined || childSessionId === undefined) return false;
    try {
      const { openToolCalls } = (await this.#options.journals.open(parentSessionId)).state;
      return openToolCalls.some(({ request }) => request?.kind === 'subflow' && request.childSessionId === childSessionId);
    } catch (error) {
      // Of a log that cannot be read nobody can tell.
      return !RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND';
    }
  }

  async #settle(worktree: KeptWorktree, childSessionId: string): Promise<WorktreeHandoff> {
    const { keeper, closeSession, onListenerError } = this.#options;
    await closeSession(childSessionId);
    const inspection = await inspected(keeper, worktree);
    if (!inspection.isClean) return preserved(keeper, worktree, inspection, onListenerError);
    try {
      await keeper.remove(worktree);
      return handoffOfWorktree(worktree, 'removed', undefined);
    } catch (error) {
      // It is all there still: something came, or somebody went in.
      const again = await inspected(keeper, worktree);
      const why = { kind: 'unknown', text: `it could not be removed: ${messageOf(error)}` } as const;
      return preserved(keeper, worktree, { ...again, isClean: false, findings: [...again.findings, why] }, onListenerError);
    }
  }

  #requestFor({ parentSessionId, childSessionId, agentId, parentWorkspace }: SubflowChild): WorktreeRequest {
    const keepFilesIn = this.#options.filesOf({ sessionId: childSessionId, agentId });
    const jobId = `${agentId}-${childSessionId.slice(-SHORT_ID_CHARACTERS)}`;
    return { jobId, cwd: parentWorkspace, key: keyOf(parentSessionId, childSessionId), ...(keepFilesIn === undefined ? {} : { keepFilesIn }) };
  }

  async #keptFor(isWanted: (key: string) => boolean): Promise<readonly KeptWorktree[]> {
    return (await this.#options.keeper.list()).filter(({ key }) => key !== undefined && isWanted(key));
  }
}

/** What an inspection says; one that fails finds that nobody can tell. */
async function inspected(keeper: WorktreeKeeper, worktree: PreparedSubagentWorktree): Promise<WorktreeInspection> {
  try {
    return await keeper.inspect(worktree);
  } catch (error) {
    const hint = RuntimeError.is(error) ? error.hint : undefined;
    return { isClean: false, findings: [{ kind: 'unknown', text: messageOf(error) }], ...(hint === undefined ? {} : { nextAction: hint }) };
  }
}

async function preserved(keeper: WorktreeKeeper, worktree: KeptWorktree, inspection: WorktreeInspection, onListenerError: OnListenerError): Promise<WorktreeHandoff> {
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
