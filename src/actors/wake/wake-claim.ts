/** Gets the right to wake a session and says so in its log, with an end for whatever a dead wake left open. */
import type { AnyActorRef } from 'xstate';
import type { DefinitionMark } from '../../machines/agent/definition-mark.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { isDue } from '../../machines/session/session-activations.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { dueWakeIds, hasWork } from '../../machines/wake/wake-decision.ts';
import { parked } from '../../machines/wake/wake-retries.ts';
import type { ClaimAnswer } from '../../machines/wake/wake-machine.ts';
import { isPoison, lostWakeEvents } from '../../machines/wake/wake-repair.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { wakeElsewhere } from '../../machines/workspace-copy/copy-state.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { EventStore, WakeRight } from '../session/event-store.ts';
import { wakeConflict } from '../session/event-store.ts';
import { endClosedCalls } from './closed-calls.ts';
import { survivorsOf } from './end-survivors.ts';
import { isOvertaken, isStale, triggerOf } from './wake-facts.ts';
import type { WakeJournal } from './wake-journal.ts';
import type { WakeOptions, WakePorts } from './wake-ports.ts';
import type { WakeWorkspaceCopy } from './wake-workspace-copy.ts';

// The right to wake a session, after all that is in its log by the time that it is given.

interface AskedRight {
  readonly store: Pick<EventStore, 'acquireWakeRight'>;
  /** As the log was last seen. */
  readonly known: SessionState;
  /** The record that begins the wake is the first thing that is done under it. */
  readonly withFirst: boolean;
  readonly refresh: () => Promise<SessionState>;
  /** Hears of each right that is given, so that it is given back whatever happens, and of `undefined` when it was. */
  readonly onRight: (right: WakeRight | undefined) => void;
}

/** @throws RuntimeError WAKE_CONFLICT */
async function acquireRight({ store, known, withFirst, refresh, onRight }: AskedRight): Promise<SessionState> {
  for (let state = known; ;) {
    const claim = { epoch: state.epoch, isOpen: state.openWake !== undefined };
    const right = await store.acquireWakeRight(
      state.sessionId,
      withFirst && state.updatedAt !== undefined ? { ...claim, withFirst: { at: state.updatedAt } } : claim,
    );
    onRight(right);
    // Where the log has gone on, the record that it comes with is refused.
    if (right.comesWith === 'record') return state;
    if (right.tip?.head === state.head && right.tip.at === state.updatedAt) return state;
    state = await refresh();
    // Whole wakes may have come and gone while we asked.
    if (state.epoch < right.epoch) return state;
    onRight(undefined);
    await right.release();
  }
}

/**
 * Whether nothing has to be done under the right before the record that begins the wake: no folder moves, no wake has
 * died, nothing is parked.
 */
function comesWithFirst(
  state: SessionState,
  { workspaceCopies }: Pick<WakePorts, 'workspaceCopies'>,
  now: string,
): boolean {
  return workspaceCopies === undefined && !isStale(state) && state.parked === undefined && hasWork(state, now);
}

export interface WakeClaimOptions {
  readonly wakeId: string;
  readonly ports: WakePorts;
  readonly options: WakeOptions;
  readonly journal: WakeJournal;
  readonly workspaceCopy: WakeWorkspaceCopy;
  /** @throws RuntimeError AGENT_NOT_FOUND, AGENT_INVALID */
  readonly readAgent: () => Promise<AgentDefinition>;
  /** Under which definition of its agent the wake runs; undefined where that cannot be read, as the wake will say. */
  readonly definition: () => Promise<DefinitionMark | undefined>;
  readonly signal: AbortSignal;
  /** Cuts the work in hand short, when the right is lost. */
  readonly interrupt: (reason: unknown) => void;
}

const UNPARKED_ONLY: ClaimAnswer = { next: 'nothing_to_do', as: 'unparked' };
const PARKED: ClaimAnswer = { next: 'nothing_to_do', as: 'parked' };
const NOTHING: ClaimAnswer = { next: 'nothing_to_do' };

export class WakeClaim {
  readonly #options: WakeClaimOptions;

  constructor(options: WakeClaimOptions) {
    this.#options = options;
  }

  /** @throws RuntimeError WAKE_CONFLICT, WAKE_ELSEWHERE, SESSION_TERMINATED, and whatever the store throws */
  async take(parent: AnyActorRef): Promise<ClaimAnswer> {
    const { ports, journal, signal, readAgent } = this.#options;
    const known = this.#isWanted(journal.state) ? journal.state : await journal.refresh();
    if (!this.#isWanted(known)) return NOTHING;
    const lacks = await ports.lackedHere?.(known, readAgent);
    if (lacks !== undefined) throw wakeElsewhere(known.sessionId, { lacks });
    let state = await this.#acquireRight(known, comesWithFirst(known, ports, this.#now()));
    let left: { readonly survivors: string | undefined } | undefined;
    for (; this.#isWanted(state); state = await journal.refresh()) {
      // That takes its time, and the session may have been terminated meanwhile.
      if (isStale(state) && left === undefined) {
        left = { survivors: await survivorsOf(ports, signal) };
        continue;
      }
      const answer = await this.#takeAt(state, left?.survivors);
      if (answer !== 'moved') {
        endClosedCalls({ executor: ports.executor, before: state, after: journal.state, parent });
        return answer;
      }
      // It did not come with the record: it is asked for first.
      if (journal.right?.comesWith === 'record' && this.#isWanted(await journal.refresh()))
        await this.#acquireRight(journal.state, false);
    }
    return NOTHING;
  }

  /** Whether a wake is to go on. @throws RuntimeError SESSION_TERMINATED */
  #isWanted(state: SessionState): boolean {
    if (state.status === 'terminated') {
      // What it owes its parent is all that is left to do.
      if (state.owedToParent !== undefined) return false;
      throw refusalError(state.sessionId, 'wake.started', terminated(state));
    }
    const { signal, options, ports } = this.#options;
    if (signal.aborted) return false;
    if (isStale(state)) return true;
    // A hint that is out of date must not make a session go on that is parked, or that is to wait before it tries
    // again.
    if (options.isAutonomous === true) return hasWork(state, this.#now()) && isDue(state, ports.clock.now());
    return state.parked !== undefined || hasWork(state, this.#now());
  }

  /** Gets the right to write after all that is in the log by then. */
  async #acquireRight(known: SessionState, withFirst: boolean): Promise<SessionState> {
    const { ports, journal, interrupt } = this.#options;
    const state = await acquireRight({
      store: ports.store,
      known,
      withFirst,
      refresh: () => journal.refresh(),
      onRight: (right) => journal.writeUnder(right),
    });
    const { right } = journal;
    right?.lost.addEventListener('abort', () => interrupt(right.lost.reason), { once: true });
    return state;
  }

  /**
   * Says in the log what becomes of the session. Only where the log still says what was decided upon: what a wake that
   * dies leaves due was made due for the state that it began in, and a caller may have taken back the very thing that
   * it begins for.
   */
  async #takeAt(state: SessionState, survivors: string | undefined): Promise<ClaimAnswer | 'moved'> {
    const { journal, wakeId } = this.#options;
    const epoch = journal.right?.epoch ?? state.epoch + 1;
    // A process that does not see our right was faster; the log has decided.
    if (state.epoch >= epoch) throw wakeConflict(state.sessionId);
    try {
      if (isPoison(state)) return await this.#park(state, epoch, survivors);
      if (isStale(state) || hasWork(state, this.#now())) return await this.#begin(state, epoch, survivors);
      // A parked session that has nothing to do now: what was held back is due again at its time.
      await journal.rest([{ type: 'session.unparked', data: { wakeId } }], epoch);
      return UNPARKED_ONLY;
    } catch (error) {
      if (isOvertaken(error)) return 'moved';
      throw RuntimeError.is(error) && error.code === 'EPOCH_SUPERSEDED' ? wakeConflict(state.sessionId) : error;
    }
  }

  async #begin(state: SessionState, epoch: number, survivors: string | undefined): Promise<ClaimAnswer> {
    const { wakeId, ports, options, journal, workspaceCopy, signal } = this.#options;
    const due = dueWakeIds(state, this.#now());
    const arrival = await workspaceCopy.arrive(state, { epoch, signal });
    const unparked: SessionEventDraft[] =
      state.parked === undefined ? [] : [{ type: 'session.unparked', data: { wakeId } }];
    const at = arrival === undefined ? {} : { host: arrival.host };
    const definition = await this.#options.definition();
    const started = {
      wakeId,
      epoch,
      owner: ports.owner,
      queuedWakeIds: due,
      trigger: triggerOf(state, due, options),
      ...at,
      ...(definition === undefined ? {} : { definition }),
    };
    await journal.begin(
      [
        ...lostWakeEvents(state, survivors),
        ...unparked,
        { type: 'wake.started', data: started },
        { type: 'session.status_changed', data: { to: 'running' } },
        ...(arrival?.notes ?? []),
      ],
      epoch,
    );
    const leftCalls = state.openToolCalls.some(({ phase }) => phase === 'started' || phase === 'requested');
    // The one that cut the dead wake short does not want its calls gone on with.
    return { next: 'claimed', mustSpeak: due.length > 0 || (leftCalls && state.openWake?.interruption === undefined) };
  }

  /** The wakes of this session kill their processes: it is left alone from now on, and says why. */
  async #park(state: SessionState, epoch: number, survivors: string | undefined): Promise<ClaimAnswer> {
    const parking = parked(
      'failures',
      `${state.failuresInARow + 1} wakes in a row failed or were lost; the last one was lost: its process died, or was suspended for longer than the lease.`,
    );
    const rest: SessionEventDraft = { type: 'session.status_changed', data: { to: 'idle', stopReason: 'idle' } };
    await this.#options.journal.rest([...lostWakeEvents(state, survivors), rest, parking], epoch);
    return PARKED;
  }

  #now(): string {
    return isoTimeOf(this.#options.ports.clock.now());
  }
}
