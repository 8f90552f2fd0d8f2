/**
 * A worker: wakes the sessions that have something to do, the most urgent first, a few at a time, and sleeps until the
 * next one is due.
 *
 * What is due is a hint, and the log decides: a hint that leads to nothing is examined and removed, a wake that
 * fails is tried again after a time that grows, and a session that another process wakes is left to it. Any number of
 * workers, in this process and in others, may work over one store.
 */
import type { StateValueFrom } from 'xstate';
import type { Observable } from 'rxjs';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { workerLifecycle } from '../../machines/session/worker-machine.ts';
import type { WorkerEventType, WorkerPhase, workerMachine } from '../../machines/session/worker-machine.ts';
import { checkStopOptions, checkWorkerOptions } from '../../machines/session/worker-settings.ts';
import type { WorkerSettings } from '../../machines/session/worker-settings.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { TimerHandle } from '../clock/clock.ts';
import { ChartedLife } from '../charted-life.ts';
import { deferred } from '../concurrency/deferred.ts';
import { settleClaim } from './settle-claim.ts';
import type {
  SessionWorkerEvent,
  SessionWorkerOptions,
  SessionWorkerPorts,
  SessionWorkerStatus,
  SessionWorkerSummary,
  StopWorkerOptions,
} from './session-worker-types.ts';
import type { Claim } from './worker-claim.ts';
import { WorkerClaims } from './worker-claims.ts';
import { DueCheck } from './worker-due-check.ts';
import { WorkerRebuild } from './worker-rebuild.ts';
import { WorkerReport } from './worker-report.ts';

/**
 * A worker that is to end when nothing is due fails when it could not see, or not make the index again, for so many
 * times in a row.
 */
const FAILURES_UNTIL_GIVEN_UP = 3;

/**
 * Due sessions that are taken at once, for each slot: more would grow old while they wait, fewer would have to be
 * searched for too often.
 */
const WAITING_PER_SLOT = 16;

/** Of a store that many machines share: what one takes and does not come to, another could do. */
const CLAIMED_PER_SLOT = 2;

/**
 * What other workers are about to wake is checked again after this long while a slot is free, in milliseconds: their
 * process may die.
 */
const CHECK_AFTER_OTHERS_MS = 20;

let workers = 0;

/** Starts a worker. @throws RuntimeError WORKER_OPTIONS_INVALID */
export function createSessionWorker(ports: SessionWorkerPorts, options: SessionWorkerOptions = {}): SessionWorker {
  return new SessionWorker(ports, checkWorkerOptions(options));
}

export class SessionWorker implements AsyncDisposable {
  /** What it does, as it does it. Completes when it has ended. */
  readonly events$: Observable<SessionWorkerEvent>;
  /**
   * Settles when no wake of this worker runs any more. @throws what kept it from seeing what is due, when it was to end
   * at idle
   */
  readonly ended: Promise<SessionWorkerSummary>;
  readonly #ports: SessionWorkerPorts;
  readonly #settings: WorkerSettings;
  readonly #life: ChartedLife<StateValueFrom<typeof workerMachine>, { readonly type: WorkerEventType }>;
  readonly #report: WorkerReport;
  readonly #claims: WorkerClaims;
  readonly #dueCheck: DueCheck;
  readonly #rebuild: WorkerRebuild;
  #queue: Claim[] = [];
  /** Sessions that the last check showed, or left out, and that others were about to wake. */
  #elsewhere = 0;
  #nextDueAtMs: number | undefined;
  #trouble: ErrorRecord | undefined;
  #setAsideAtEnd: SessionWorkerSummary['setAside'] = [];
  #drainTimer: TimerHandle | undefined;
  /** What `ended` rejects with. */
  #failure: unknown;
  readonly #ended = deferred<SessionWorkerSummary>();

  constructor(ports: SessionWorkerPorts, settings: WorkerSettings) {
    this.#ports = ports;
    this.#settings = settings;
    const { clock, store, supervisor } = ports;
    workers += 1;
    const id = `worker_${workers}`;
    this.#life = new ChartedLife({ lifecycle: workerLifecycle, id, parent: supervisor });
    this.#report = new WorkerReport(ports.onListenerError);
    this.events$ = this.#report.events$;
    this.ended = this.#ended.promise;
    // A caller need not wait for it.
    this.ended.catch(() => undefined);
    this.#dueCheck = new DueCheck({
      clock,
      restLimitMs: settings.restLimitMs,
      check: () => this.#check(),
      watch: (onChange) =>
        store.activations.watch(() => {
          this.#claims.hear();
          onChange();
        }),
      onFailure: (error, failures, againAtMs) => this.#checkFailed(error, failures, againAtMs),
    });
    this.#claims = new WorkerClaims({
      clock,
      supervisor,
      workerId: id,
      maxWaiting: settings.concurrency * WAITING_PER_SLOT,
      wakeRightFreed: (sessionId, signal) => store.wakeRightFreed(sessionId, signal),
      onAgain: () => this.#dueCheck.request(),
    });
    this.#rebuild = new WorkerRebuild(ports, {
      onReady: () => void this.#life.move('READY'),
      onFailure: (error, failures, againAtMs) => this.#rebuildFailed(error, failures, againAtMs),
      onEnded: () => this.#rebuildEnded(),
    });
    this.#dueCheck.begin();
    this.#rebuild.begin();
  }

  get phase(): WorkerPhase {
    // The chart's top-level states are the phases, by construction of the type.
    return this.#life.state as WorkerPhase;
  }

  /** Where it stands. A value: it does not change any more. */
  status(): SessionWorkerStatus {
    return Object.freeze({
      phase: this.phase,
      concurrency: this.#settings.concurrency,
      running: this.#claims.runningWakes(),
      waiting: this.#queue.length,
      setAside: this.#claims.setAsideSessions(),
      isRebuilding: this.#rebuild.isRunning,
      counts: this.#report.counts,
      lateness: this.#report.lateness,
      ...(this.#nextDueAtMs === undefined ? {} : { nextDueAt: isoTimeOf(this.#nextDueAtMs) }),
      ...(this.#trouble === undefined ? {} : { trouble: this.#trouble }),
    });
  }

  /**
   * Takes nothing more, and resolves when no wake of this worker runs any more. What it did not come to stays due for
   * others. May be called again with `abort`, when draining takes too long.
   */
  async stop(options: StopWorkerOptions = {}): Promise<SessionWorkerSummary> {
    checkStopOptions(options);
    const { running = 'drain', reason = 'the worker was stopped' } = options;
    if (this.#isTaking) this.#stopTaking();
    if (running === 'abort') this.#force(reason);
    else this.#drain(reason);
    this.#endIfDone();
    return this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop({ running: 'abort' }).then(
      () => undefined,
      () => undefined,
    );
  }

  get #isTaking(): boolean {
    return this.phase === 'starting' || this.phase === 'working';
  }

  async #check(): Promise<number | undefined> {
    const { clock, store } = this.#ports;
    const { wanted } = this.#claims;
    const found = await store.activations.due({
      nowMs: clock.now(),
      limit: wanted,
      except: this.#claims.leftOut,
      agentId: this.#settings.agentId,
      claims: this.#settings.concurrency * CLAIMED_PER_SLOT,
    });
    if (!this.#isTaking) return undefined;
    this.#trouble = undefined;
    this.#nextDueAtMs = found.nextDueAtMs;
    this.#queue = this.#claims.confirm(found.due, wanted);
    this.#elsewhere = found.elsewhere ?? 0;
    this.#startWaiting();
    this.#noteIdle();
    if (this.#elsewhere === 0 || this.#claims.running === this.#settings.concurrency) return found.nextDueAtMs;
    return Math.min(found.nextDueAtMs ?? Infinity, clock.now() + CHECK_AFTER_OTHERS_MS);
  }

  #startWaiting(): void {
    const { activations } = this.#ports.store;
    while (this.#isTaking && this.#claims.running < this.#settings.concurrency) {
      const claim = this.#queue.shift();
      if (claim === undefined) return;
      if (activations.reserve?.(claim.session) ?? true) void this.#wake(claim);
      else this.#elsewhere += 1;
    }
  }

  async #wake(claim: Claim): Promise<void> {
    const { sessionId, agentId } = claim;
    const [activation] = claim.session.activations;
    this.#life.move('WOKE');
    this.#claims.begin(claim, this.#dueCheck.rings);
    const latenessMs = Math.max(0, claim.beganAtMs - activation.dueAtMs);
    this.#report.tell({ type: 'woke', at: isoTimeOf(claim.beganAtMs), sessionId, agentId, activation, latenessMs });
    const isOver = await settleClaim(claim, {
      ports: this.#ports,
      claims: this.#claims,
      report: this.#report,
      isStopping: () => !this.#isTaking,
    });
    this.#ports.store.activations.release?.(sessionId);
    if (!this.#isTaking) return this.#endIfDone();
    if (isOver) return void this.stop({ running: 'abort' }).catch(() => undefined);
    this.#startWaiting();
    // What came for this session while it was awake was left out of the checks; and a session has to take the next slot.
    if (this.#dueCheck.rings !== claim.beganAtRing || this.#queue.length < this.#settings.concurrency)
      this.#dueCheck.request();
  }

  #noteIdle(): void {
    const isIdle =
      this.#claims.running === 0 &&
      this.#claims.contended + this.#elsewhere + this.#queue.length === 0 &&
      this.#rebuild.isOver &&
      !this.#dueCheck.isWanted;
    if (!isIdle) return;
    if (!this.#life.matches({ working: 'idle' })) {
      this.#life.move('IDLE');
      this.#report.tell({
        type: 'idle',
        at: this.#now(),
        ...(this.#nextDueAtMs === undefined ? {} : { nextDueAt: isoTimeOf(this.#nextDueAtMs) }),
      });
    }
    // A listener may have stopped it.
    if (!this.#settings.untilIdle || !this.#isTaking) return;
    this.#stopTaking();
    this.#life.move('DRAIN');
    this.#end('idle');
  }

  #rebuildEnded(): void {
    if (this.#isTaking) this.#dueCheck.request();
    else this.#endIfDone();
  }

  /** What is known to be due is done first. */
  #rebuildFailed(error: unknown, failures: number, againAtMs: number): void {
    this.#tellTrouble(error, againAtMs);
    if (!this.#settings.untilIdle || failures < FAILURES_UNTIL_GIVEN_UP) return;
    this.#failure = error;
    this.#rebuild.giveUp();
    this.#rebuildEnded();
  }

  #checkFailed(error: unknown, failures: number, againAtMs: number): void {
    this.#tellTrouble(error, againAtMs);
    if (!this.#settings.untilIdle || failures < FAILURES_UNTIL_GIVEN_UP || !this.#isTaking) return;
    this.#failure = error;
    void this.stop().catch(() => undefined);
  }

  #tellTrouble(error: unknown, againAtMs: number): void {
    this.#trouble = recordOf(error);
    this.#report.tell({ type: 'troubled', at: this.#now(), reason: this.#trouble, againAt: isoTimeOf(againAtMs) });
  }

  #stopTaking(): void {
    this.#setAsideAtEnd = this.#claims.setAsideSessions();
    this.#queue = [];
    this.#dueCheck.stop();
    this.#rebuild.stop();
    this.#claims.dropAll();
  }

  #drain(reason: string): void {
    if (!this.#life.move('DRAIN')) return;
    this.#drainTimer = this.#ports.clock.setTimeout(
      () => this.#force(`${reason}, and the wake did not end in time`),
      this.#settings.drainLimitMs,
    );
  }

  #force(reason: string): void {
    if (this.phase === 'stopped') return;
    this.#life.move('FORCE');
    this.#claims.abort(reason);
  }

  #endIfDone(): void {
    if (this.#isTaking || this.phase === 'stopped' || this.#claims.running > 0 || this.#rebuild.isRunning) return;
    this.#end(this.phase === 'forced' ? 'forced' : 'stopped');
  }

  #end(endedBecause: SessionWorkerSummary['endedBecause']): void {
    this.#ports.clock.clearTimeout(this.#drainTimer);
    this.#life.move('ENDED');
    this.#report.end();
    if (this.#failure !== undefined) return this.#ended.reject(this.#failure);
    const { counts, lateness } = this.#report;
    this.#ended.resolve(Object.freeze({ endedBecause, counts, lateness, setAside: this.#setAsideAtEnd }));
  }

  #now(): string {
    return isoTimeOf(this.#ports.clock.now());
  }
}

function recordOf(error: unknown): ErrorRecord {
  if (RuntimeError.is(error)) return error.toJSON();
  return new RuntimeError('WORKER_CRASHED', `the worker could not go on: ${messageOf(error)}`, {
    category: 'crash',
    hint: 'This is a defect; please report it.',
  }).toJSON();
}
