/**
 * The workspace of the session that a wake works with: here before the wake begins, and copied before it ends. Where
 * machines share nothing, nothing.
 */
import { begunWake } from '../../machines/workspace-copy/copy-state.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ArrivedWorkspaceCopy, WorkspaceCopies } from '../workspace-copy/workspace-copies.ts';

export class WakeWorkspaceCopy {
  readonly #workspaceCopies: WorkspaceCopies | undefined;
  #arrived: ArrivedWorkspaceCopy | undefined;
  /** The newest wake of the log in which it arrived. */
  #arrivedAfter: number | undefined;
  /** What the log has to say of the copy, with the end of the wake. */
  endNotes: readonly SessionEventDraft[] = [];

  constructor(workspaceCopies: WorkspaceCopies | undefined) {
    this.#workspaceCopies = workspaceCopies;
  }

  /**
   * Once for a wake, however often it has to check the log again before it begins, unless another wake has begun
   * meanwhile, which may have worked elsewhere. Undefined where machines share nothing. @throws what
   * `WorkspaceCopies.arrive` throws
   */
  async arrive(
    session: SessionState,
    wake: Parameters<WorkspaceCopies['arrive']>[1],
  ): Promise<Pick<ArrivedWorkspaceCopy, 'host' | 'notes'> | undefined> {
    const after = begunWake(session)?.epoch ?? 0;
    if (this.#arrived === undefined || this.#arrivedAfter !== after)
      this.#arrived = await this.#workspaceCopies?.arrive(session, wake);
    this.#arrivedAfter = after;
    return this.#arrived;
  }

  /**
   * Not after the right to wake is lost: what lies here belongs to another wake then. @throws RuntimeError
   * WORKSPACE_COPY_SUPERSEDED
   */
  async leave({
    lost,
    force,
  }: {
    readonly lost: AbortSignal | undefined;
    readonly force: AbortSignal | undefined;
  }): Promise<void> {
    if (this.#arrived === undefined || lost?.aborted === true) return;
    const signals = [lost, force].filter((signal) => signal !== undefined);
    const notes = await this.#arrived.leave({ signal: AbortSignal.any(signals) });
    if (notes.length > 0) this.endNotes = notes;
  }
}

/** Whether the session works in a workspace of its own, which a machine that wakes it has where that one is. */
export function hasMovingWorkspace(
  { workspace }: Pick<SessionState, 'workspace'>,
  { workspaceCopies }: { readonly workspaceCopies?: WorkspaceCopies | undefined },
): boolean {
  return workspaceCopies !== undefined && workspace === undefined;
}
