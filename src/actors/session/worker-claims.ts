/**
 * The sessions that a worker has found due and has not done with: which wait, which are being woken, and which are set
 * aside until when.
 */
import type { AnyActorRef } from 'xstate';
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { activationLifecycle } from '../../machines/session/activation-machine.ts';
import type { ActivationEventType, ActivationPhase, SetAsidePhase } from '../../machines/session/activation-machine.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';
import { FAILURES_UNTIL_PARKED, backOffMs, hintKey } from '../../machines/session/worker-rules.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { SessionWorkerStatus } from './session-worker-types.ts';
import { Claim } from './worker-claim.ts';
import type { ClaimFailure } from './worker-claim.ts';
import { WorkerTurns } from './worker-turns.ts';

export interface WorkerClaimsOptions {
  readonly clock: Clock;
  readonly supervisor: AnyActorRef;
  /** Sessions that are taken to wait for a slot at once; the index holds the rest. */
  readonly maxWaiting: number;
  /** Begins the names of the actors. */
  readonly workerId: string;
  /** Resolves when another process's wake of a session may be over, or when the signal aborts. */
  readonly wakeRightFreed: (sessionId: string, signal: AbortSignal) => Promise<void>;
  /** A session that was set aside may be checked again. */
  readonly onAgain: () => void;
}

/** Waits for the end of others' wakes that are open at once. Beyond it time has to tell. */
const MAX_FREED_WAITS = 32;

/**
 * So often in a row a hint that came before its cause is checked again when more hints are made: its sender announces
 * it afterwards.
 */
const FREE_EARLY_CHECKS = 3;

/** So often in a row another process may come first before we stop coming back at once. */
const FREE_CONFLICTS = 2;

/**
 * Sessions that may be set aside at once, but for those that are left to others. With more, nothing new is taken:
 * something must be wrong with all of them.
 */
const MAX_SET_ASIDE = 10_000;

const MOVES = {
  early: 'FORESEE',
  contended: 'CONTEND',
  elsewhere: 'LEAVE',
  backed_off: 'HOLD',
  parked: 'PARK',
} as const satisfies Record<SetAsidePhase, ActivationEventType>;

export class WorkerClaims {
  readonly #options: WorkerClaimsOptions;
  readonly #claims = new Map<string, Claim>();
  /** The same, by the states of their charts. */
  readonly #in = claimsByPhase();
  readonly #turns = new WorkerTurns();
  /** How often hints were made. */
  #heard = 0;
  #freedWaits = 0;
  #number = 0;

  constructor(options: WorkerClaimsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#in.waking.size;
  }

  get contended(): number {
    return this.#in.contended.size;
  }

  /**
   * Sessions to leave out of what is searched for. One that was checked too early is searched for: something else may
   * have come for it.
   */
  get leftOut(): ReadonlySet<string> {
    const { waking, contended, elsewhere, backed_off: backedOff, parked } = this.#in;
    const leftOut = new Set<string>();
    for (const claims of [waking, contended, elsewhere, backedOff, parked])
      for (const { sessionId } of claims) leftOut.add(sessionId);
    return leftOut;
  }

  get isFull(): boolean {
    const { waiting, waking, elsewhere } = this.#in;
    return this.#claims.size - waiting.size - waking.size - elsewhere.size >= MAX_SET_ASIDE;
  }

  /**
   * For how many sessions to ask the index. Those that had a turn, or were checked too early, may stand before others
   * there that come before them here, so there have to be so many more.
   */
  get wanted(): number {
    return this.isFull ? 0 : this.#options.maxWaiting + this.#turns.size + this.#in.early.size;
  }

  /**
   * Takes what the index found of as many as were wanted, and answers with those that wait, in the order of their
   * turns.
   */
  confirm(due: readonly DueSession[], wanted: number): Claim[] {
    const free = due.filter((session) => !this.#isTooEarly(session));
    const next = free.toSorted(this.#turns.compare).slice(0, this.#options.maxWaiting);
    const isComplete = due.length < wanted && next.length === free.length;
    const waiting = next.flatMap((session) => this.#confirmOne(session) ?? []);
    const confirmed = new Set(waiting);
    // Not found because it is not due any more, or because others come first; one with a past is remembered meanwhile.
    for (const claim of this.#in.waiting)
      if (!confirmed.has(claim) && (isComplete || claim.failure === undefined)) this.#drop(claim);
    return waiting;
  }

  /** Hints were made: what came too early may be there now. */
  hear(): void {
    this.#heard += 1;
    for (const claim of [...this.#in.early]) if (claim.attempts <= FREE_EARLY_CHECKS) this.#again(claim);
  }

  begin(claim: Claim, rings: number): void {
    const { clock } = this.#options;
    claim.abort = new AbortController();
    claim.beganAtMs = clock.now();
    claim.beganSteadyMs = clock.steadyNow();
    claim.beganAtRing = rings;
    claim.heardBefore = this.#heard;
    this.#move(claim, 'BEGIN');
  }

  /** Whether the last wake of the session was for one of the same hints. */
  isRepeat({ session }: Claim): boolean {
    return this.#turns.isRepeat(session);
  }

  /**
   * The wake has ended, and only the log can say what comes next.
   * @param due names of what the log leaves due, when it was asked
   */
  settle(
    claim: Claim,
    { tookTurn, due }: { readonly tookTurn: boolean; readonly due?: ReadonlySet<string> | undefined },
  ): void {
    if (tookTurn) this.#turns.took(claim.session, due, this.#options.clock.steadyNow());
    this.#move(claim, 'SETTLE');
  }

  /** The wake came to nothing: the session is left alone for a while. */
  setAside(claim: Claim, failure: ClaimFailure, reason?: ErrorRecord): void {
    this.#countFailure(claim, failure, reason);
    const phase = phaseOf(claim, failure);
    const { attempts } = claim;
    this.#hold(claim, phase, failure === 'contended' ? this.#contend(claim) : backOffMs(phase, attempts));
    if (failure === 'early' && claim.heardBefore !== this.#heard && attempts <= FREE_EARLY_CHECKS) this.#again(claim);
  }

  /** Stops the wakes that run. */
  abort(reason: string): void {
    for (const { abort } of this.#in.waking) abort?.abort(reason);
  }

  /** Leaves everything that does not run to others. */
  dropAll(): void {
    for (const claim of [...this.#claims.values()]) if (claim.phase !== 'waking') this.#drop(claim);
  }

  runningWakes(): SessionWorkerStatus['running'][number][] {
    return [...this.#in.waking].map(({ sessionId, agentId, beganAtMs, session }) => ({
      sessionId,
      agentId,
      since: isoTimeOf(beganAtMs),
      activation: session.activations[0],
    }));
  }

  setAsideSessions(): SessionWorkerStatus['setAside'][number][] {
    return [...this.#claims.values()].flatMap(
      ({ sessionId, agentId, phase, attempts, againAtMs, reason, isSetAside }) => {
        if (!isSetAside) return [];
        // It is one of them, as the line above has asked.
        const aside = phase as SetAsidePhase;
        return [
          {
            sessionId,
            agentId,
            phase: aside,
            attempts,
            ...(againAtMs === undefined ? {} : { againAt: isoTimeOf(againAtMs) }),
            ...(reason === undefined ? {} : { reason }),
          },
        ];
      },
    );
  }

  /** Whether nothing came for the session since it was checked too early. Otherwise it is let back in. */
  #isTooEarly({ sessionId, activations }: DueSession): boolean {
    const claim = this.#claims.get(sessionId);
    if (claim?.phase !== 'early') return false;
    const known = new Set(claim.session.activations.map(hintKey));
    if (activations.every((hint) => known.has(hintKey(hint)))) return true;
    this.#letIn(claim);
    return false;
  }

  #confirmOne(session: DueSession): Claim | undefined {
    const { sessionId } = session;
    const claim = this.#claims.get(sessionId) ?? this.#create(session);
    if (claim.phase !== 'waiting') return undefined;
    claim.session = session;
    const heldMs = this.#turns.heldForMs(session, this.#options.clock.steadyNow());
    if (heldMs === 0) return claim;
    this.#countFailure(claim, 'failed', stillDue(this.#turns.repeatsOf(sessionId)));
    this.#hold(claim, 'backed_off', heldMs);
    return undefined;
  }

  #create(session: DueSession): Claim {
    this.#number += 1;
    const claim = new Claim(session, this.#options.supervisor, `${this.#options.workerId}_activation_${this.#number}`);
    this.#claims.set(claim.sessionId, claim);
    this.#in[claim.phase].add(claim);
    return claim;
  }

  #countFailure(claim: Claim, failure: ClaimFailure, reason: ErrorRecord | undefined): void {
    claim.attempts = claim.failure === failure ? claim.attempts + 1 : 1;
    claim.failure = failure;
    claim.reason = reason;
    claim.abort = undefined;
  }

  #hold(claim: Claim, phase: SetAsidePhase, delayMs: number): void {
    const { clock } = this.#options;
    this.#move(claim, MOVES[phase]);
    claim.againAtMs = clock.now() + delayMs;
    claim.timer = clock.setTimeout(() => this.#again(claim), delayMs);
  }

  /** Begins to wait for the end of the other's wake. @returns how long at most, in milliseconds */
  #contend(claim: Claim): number {
    const delayMs = backOffMs('contended', claim.attempts);
    if (this.#freedWaits >= MAX_FREED_WAITS || claim.attempts > FREE_CONFLICTS) return delayMs;
    const controller = new AbortController();
    const { signal } = controller;
    claim.stopWaiting = () => controller.abort('no longer waited for');
    this.#freedWaits += 1;
    const freed = async (): Promise<void> => {
      try {
        await this.#options.wakeRightFreed(claim.sessionId, signal);
        if (!signal.aborted) this.#again(claim);
      } catch {
        // Time tells.
      } finally {
        this.#freedWaits -= 1;
      }
    };
    void freed();
    return backOffMs('contended', Infinity);
  }

  #again(claim: Claim): void {
    if (!claim.isSetAside) return;
    this.#letIn(claim);
    this.#options.onAgain();
  }

  #letIn(claim: Claim): void {
    this.#release(claim);
    this.#move(claim, 'AGAIN');
  }

  #drop(claim: Claim): void {
    this.#release(claim);
    this.#move(claim, 'DROP');
  }

  /** Releases what a session that is set aside waits by. */
  #release(claim: Claim): void {
    this.#options.clock.clearTimeout(claim.timer);
    claim.againAtMs = undefined;
    claim.stopWaiting?.();
    claim.stopWaiting = undefined;
  }

  #move(claim: Claim, type: ActivationEventType): void {
    this.#in[claim.phase].delete(claim);
    claim.move(type);
    if (claim.isOver) this.#claims.delete(claim.sessionId);
    else this.#in[claim.phase].add(claim);
  }
}

function claimsByPhase(): Readonly<Record<ActivationPhase, Set<Claim>>> {
  const phases = activationLifecycle.snapshots.map(({ value }) => [value, new Set<Claim>()] as const);
  return Object.fromEntries(phases) as Record<ActivationPhase, Set<Claim>>;
}

function phaseOf({ attempts }: Claim, failure: ClaimFailure): SetAsidePhase {
  if (failure !== 'failed') return failure;
  return attempts >= FAILURES_UNTIL_PARKED ? 'parked' : 'backed_off';
}

function stillDue(repeats: number): ErrorRecord {
  return new RuntimeError(
    'ACTIVATION_REPEATS',
    `the session is still due by what it was woken for ${repeats} times in a row`,
    {
      category: 'conflict',
      hint: 'Check the log of the session: its wakes leave their cause undone.',
      details: { repeats },
    },
  ).toJSON();
}
