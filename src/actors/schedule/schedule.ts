/**
 * One live schedule: its plan, its place in time, and the commands it takes. It sleeps on one timer, decides the slots
 * that have come due, and leaves firing them to its FireLine. Whatever awaits runs in one mutex, so commands, due slots
 * and ends of fires never interleave.
 */
import type { StateValueFrom } from 'xstate';
import { messageOf } from '../../machines/errors.ts';
import { RUN_SILENCE_MS } from '../../machines/schedule/schedule-state.ts';
import { allowance, decideCatchUp, dueSlots } from '../../machines/schedule/due-slots.ts';
import { scheduleLifecycle } from '../../machines/schedule/schedule-machine.ts';
import type { ScheduleEvent, scheduleMachine } from '../../machines/schedule/schedule-machine.ts';
import type { PlanChange } from '../../machines/schedule/schedule-options.ts';
import { epochMsOf, instantOf, isSamePlan } from '../../machines/schedule/slot-record.ts';
import type { MissedReason, RecordOf, SchedulePlan } from '../../machines/schedule/slot-record.ts';
import type { ScheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { CatchUpPolicy, OverlapPolicy } from '../../machines/task/task-request.ts';
import { ChartedLife } from '../charted-life.ts';
import { requireFutureTime } from './cron-plan.ts';
import type { CronPlan, CronTimes } from './cron-plan.ts';
import type { FireLine } from './fire-line.ts';
import type { ScheduleCore } from './schedule-core.ts';
import { isRecordFailure } from './schedule-journal.ts';
import { SlotTimer } from './slot-timer.ts';

export interface ScheduleOptions {
  readonly core: ScheduleCore;
  readonly cron: CronPlan;
  readonly times: CronTimes;
  readonly catchUp: CatchUpPolicy;
  readonly overlap: OverlapPolicy;
  readonly fires: FireLine;
  readonly onOpened: () => void;
  /** The plan, the pause or the trouble has changed: what the schedule shows may have too. */
  readonly onChanged: () => void;
  /** No fire runs any more and none will. With a reason when the schedule could not go on. */
  readonly onEnded: (failure?: BackgroundTaskError) => void;
}

interface LeftByOthers {
  readonly interruptions: readonly RecordOf<'slot.interrupted'>[];
  /** Slots that were in line, ascending. */
  readonly queued: readonly number[];
}

const UNSTORED = 'some records could not be stored yet';

interface DueQuestion {
  readonly upToMs: number;
  /** Why a slot that does not fire did not. */
  readonly reason: MissedReason;
  readonly punctualMs: number;
  /** Slots that an earlier run had in line. */
  readonly leftovers?: readonly number[];
}

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #core: ScheduleCore;
  readonly #life: ChartedLife<StateValueFrom<typeof scheduleMachine>, ScheduleEvent>;
  readonly #alarm: SlotTimer;
  #times: CronTimes;
  #overlap: OverlapPolicy;
  /** Every slot up to here, in epoch milliseconds, is decided. */
  #decidedMs = Number.NaN;
  #retryAtMs: number | undefined = undefined;
  #retryMs: number;
  #trouble: string | undefined = undefined;
  #stopped: Promise<void> | undefined = undefined;
  /** When this run first saw a claim of another, of which it cannot tell whether that lives. */
  readonly #seen = new Map<string, number>();

  constructor(options: ScheduleOptions) {
    const { clock, parent, limits, scheduleId } = options.core;
    this.#options = options;
    this.#core = options.core;
    this.#times = options.times;
    this.#overlap = options.overlap;
    this.#retryMs = limits.storeRetryMs;
    this.#life = new ChartedLife({ lifecycle: scheduleLifecycle, id: `schedule:${scheduleId}`, parent });
    this.#alarm = new SlotTimer(clock, limits.checkIntervalMs, () => this.check());
  }

  /** Neither being opened, nor stopped, nor over. */
  get isLive(): boolean {
    return this.#life.matches('active') || this.#life.matches('paused') || this.#life.matches('draining');
  }

  get isPaused(): boolean {
    return this.#life.matches('paused');
  }

  /** ISO time of the next slot that can fire; undefined while paused or when there is none. */
  get nextFireAt(): string | undefined {
    if (!this.#life.matches('active')) return undefined;
    const next = this.#times.next(Math.max(this.#decidedMs, this.#core.clock.now()));
    return next === undefined ? undefined : instantOf(next);
  }

  /** What a person should know about it, if anything. */
  get remark(): string | undefined {
    if (this.isPaused) return 'paused';
    if (this.#trouble !== undefined) return this.#trouble;
    if (this.#life.matches('draining')) return 'no further fires; finishing the last one';
    const isAhead = this.#decidedMs - this.#core.clock.now() > this.#core.limits.punctualMs;
    return isAhead ? `the clock is behind the record, which reaches to ${instantOf(this.#decidedMs)}` : undefined;
  }

  /** Begins. What goes wrong from here on ends it through `onEnded`. */
  open(): void {
    void this.#core.mutex.run(() => this.#open()).catch((thrown: unknown) => this.#fail(thrown));
  }

  /** Sees to whatever is due: slots, the line, records that are owed. */
  check(): void {
    void this.#core.mutex.run(() => this.#check());
  }

  pause(): Promise<void> {
    return this.#command('paused', async () => {
      if (this.isPaused) return;
      // What came due before the pause is not the pause's doing.
      await this.#check();
      this.#requireLive('paused');
      this.#life.move('PAUSE');
      await this.#report('schedule.paused');
      this.#rest();
    });
  }

  resume(): Promise<void> {
    return this.#command('resumed', async () => {
      if (!this.isPaused) return;
      await this.#check();
      this.#requireRecorded('resumed');
      this.#requireLive('resumed');
      this.#life.move('RESUME');
      await this.#report('schedule.resumed');
      await this.#check();
    });
  }

  edit({ cronExpression, timezone, overlap }: PlanChange): Promise<void> {
    return this.#command('edited', async () => {
      const current = this.#times.plan;
      const times = this.#options.cron.read({
        cronExpression: cronExpression ?? current.cronExpression,
        timezone: timezone ?? current.timezone,
      });
      if (!isSamePlan(times.plan, current)) await this.#replan(times);
      this.#overlap = overlap ?? this.#overlap;
      this.#rest();
    });
  }

  /**
   * Ends it: no timer, no new fire, the running one cancelled. Resolves when that is gone. Idempotent; the first reason
   * counts.
   */
  stop(reason: string): Promise<void> {
    this.#stopped ??= this.#stop(reason);
    return this.#stopped;
  }

  async #open(): Promise<void> {
    const { clock, journal } = this.#core;
    const { fires, onOpened } = this.#options;
    const history = await journal.history();
    const upToMs = clock.now();
    const isContinued = history.plan !== undefined && isSamePlan(history.plan, this.#times.plan);
    const left = await this.#leftByOthers(history);
    await journal.append(left.interruptions);
    if (isContinued) this.#decidedMs = epochMsOf(history.through ?? this.#now());
    else await this.#begin(history, left.queued, upToMs);
    this.#life.move('OPENED');
    if (history.paused) this.#life.move('PAUSE');
    if (!this.isLive) return;
    onOpened();

    const leftovers = isContinued ? left.queued : [];
    if (this.isPaused) fires.inherit(leftovers);
    // However short the gap was, a policy of `none` means that nothing of before the start fires.
    await this.#settleDue({ upToMs, reason: 'down', punctualMs: 0, leftovers: this.isPaused ? [] : leftovers });
    await this.#check();
  }

  /** A plan comes into force that was not in force before: the first one, or another than the record knows. */
  async #begin(history: ScheduleHistory, queued: readonly number[], nowMs: number): Promise<void> {
    const { fires } = this.#options;
    requireFutureTime(this.#times, nowMs);
    if (history.plan !== undefined && history.through !== undefined) {
      const due = this.#dueUnder(history.plan, { afterMs: epochMsOf(history.through), upToMs: nowMs });
      const missed = [...queued, ...due.slots];
      await fires.settle({ older: due.older, missed, fire: [], reason: 'plan-changed', overlap: this.#overlap });
    }
    await this.#core.journal.append([{ v: 1, type: 'schedule.planned', at: instantOf(nowMs), ...this.#times.plan }]);
    this.#decidedMs = Math.max(nowMs, history.through === undefined ? nowMs : epochMsOf(history.through));
  }

  #dueUnder(
    plan: SchedulePlan,
    span: { readonly afterMs: number; readonly upToMs: number },
  ): ReturnType<typeof dueSlots> {
    const { limits, log } = this.#core;
    try {
      return dueSlots(this.#options.cron.read(plan), { ...span, limit: limits.maxNamedMissed });
    } catch (thrown) {
      // It was valid when it was recorded; another release of the time zone data or of the parser may see that
      // differently.
      log.write(`the plan before this one cannot be read any more: ${messageOf(thrown)}`);
      return { slots: [], older: span };
    }
  }

  /** What runs that are gone have left open. What a living one has in hand is its own business. */
  async #leftByOthers({ claims, queued }: ScheduleHistory): Promise<LeftByOthers> {
    const { owner } = this.#core;
    const open = claims.filter((claim) => !claim.interrupted && claim.owner !== owner);
    const lined = queued.filter((each) => each.owner !== owner);
    const gone = await this.#goneOf([...open, ...lined]);
    return {
      interruptions: open
        .filter((claim) => gone.has(claim.slot))
        .map(({ slot }) => ({ v: 1, type: 'slot.interrupted', slot, at: this.#now(), owner })),
      queued: lined.filter(({ slot }) => gone.has(slot)).map(({ slot }) => epochMsOf(slot)),
    };
  }

  /** The slots whose owner is dead, or silent for so long that it is taken for dead. */
  async #goneOf(slots: readonly { readonly slot: string; readonly owner: string }[]): Promise<ReadonlySet<string>> {
    const nowMs = this.#core.clock.now();
    const gone = new Set<string>();
    for (const { slot, owner } of slots) {
      const isAlive = await this.#core.isAlive(owner);
      const seenMs = this.#seen.get(slot) ?? nowMs;
      this.#seen.set(slot, seenMs);
      if (!(isAlive ?? nowMs - seenMs < RUN_SILENCE_MS)) gone.add(slot);
    }
    for (const slot of this.#seen.keys())
      if (gone.has(slot) || !slots.some((each) => each.slot === slot)) this.#seen.delete(slot);
    return gone;
  }

  async #check(): Promise<void> {
    if (!this.isLive) return;
    const { clock, journal, limits } = this.#core;
    const { fires } = this.#options;
    try {
      if (!(await journal.settleDebts())) return this.#backOff(UNSTORED);
      const history = await journal.history();
      // Another process may have paused or resumed the schedule: the record counts, not who asked.
      if (history.paused !== this.isPaused) this.#life.move(history.paused ? 'PAUSE' : 'RESUME');
      // Stopped in the meantime: what is due is left to the next start.
      if (!this.isLive) return;
      const left = await this.#leftByOthers(history);
      if (left.interruptions.length > 0) await journal.append(left.interruptions);
      await this.#settleDue({
        upToMs: clock.now(),
        reason: 'late',
        punctualMs: limits.punctualMs,
        leftovers: this.isPaused ? [] : left.queued,
      });
      if (!this.isPaused) await fires.advance();
      this.#recover();
      this.#rest();
    } catch (thrown) {
      if (isRecordFailure(thrown)) this.#backOff(thrown.message);
      else this.#fail(thrown);
    }
  }

  async #settleDue({ upToMs, reason, punctualMs, leftovers = [] }: DueQuestion): Promise<void> {
    const { catchUp, fires } = this.#options;
    const limit = Math.max(this.#core.limits.maxNamedMissed, allowance(catchUp));
    const due = dueSlots(this.#times, { afterMs: this.#decidedMs, upToMs, limit });
    const slots = [...leftovers, ...due.slots];
    if (slots.length === 0) return;
    this.#life.move('DUE');
    const { isPaused } = this;
    const decision = isPaused
      ? { missed: slots, fire: [] }
      : decideCatchUp({ slots, policy: catchUp, nowMs: upToMs, punctualMs });
    try {
      await fires.settle({
        older: due.older,
        ...decision,
        reason: isPaused ? 'paused' : reason,
        overlap: this.#overlap,
      });
      this.#decidedMs = due.slots.at(-1) ?? this.#decidedMs;
    } finally {
      this.#life.move('SETTLED');
    }
  }

  async #replan(times: CronTimes): Promise<void> {
    const { clock, journal, limits } = this.#core;
    const nowMs = clock.now();
    requireFutureTime(times, nowMs);
    // One instant parts the plans: the old one's slots up to it are settled first, the new one's count from it.
    await this.#settleDue({ upToMs: nowMs, reason: 'late', punctualMs: limits.punctualMs });
    await journal.append([{ v: 1, type: 'schedule.planned', at: instantOf(nowMs), ...times.plan }]);
    this.#times = times;
    this.#decidedMs = Math.max(this.#decidedMs, nowMs);
    this.#life.move('REPLAN');
  }

  /** Arms the timer for the next slot, or ends when there is none and nothing runs. */
  #rest(): void {
    if (!this.isLive) return;
    const { fires, onChanged } = this.#options;
    const next = this.#times.next(this.#decidedMs);
    // A paused schedule with slots in line still has something to fire.
    if (next === undefined && !(this.isPaused && fires.lineLength > 0)) this.#life.move('EXHAUST');
    if (this.#life.matches('draining') && fires.isIdle && !this.#core.journal.isBehind)
      return this.#conclude('DRAINED');
    const atMs = this.#retryAtMs ?? next;
    if (atMs === undefined) this.#alarm.clear();
    else this.#alarm.set(atMs);
    onChanged();
  }

  async #report(type: 'schedule.paused' | 'schedule.resumed'): Promise<void> {
    const { journal } = this.#core;
    journal.owe({ v: 1, type, at: this.#now() });
    if (!(await journal.settleDebts())) this.#backOff(UNSTORED);
  }

  #backOff(trouble: string): void {
    const { clock, limits, log } = this.#core;
    if (this.#trouble === undefined) log.write(trouble);
    this.#trouble = trouble;
    this.#retryAtMs = clock.now() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, limits.maxStoreRetryMs);
    this.#rest();
  }

  #recover(): void {
    this.#trouble = undefined;
    this.#retryAtMs = undefined;
    this.#retryMs = this.#core.limits.storeRetryMs;
  }

  async #stop(reason: string): Promise<void> {
    const { journal, mutex } = this.#core;
    const { fires } = this.#options;
    this.#life.move('STOP');
    this.#alarm.clear();
    const gone = fires
      .whenGone()
      .then(() => mutex.run(() => journal.settleDebts()))
      .then(() => this.#conclude('STOPPED'));
    await fires.stop(reason);
    await gone;
  }

  #conclude(event: 'DRAINED' | 'STOPPED'): void {
    this.#alarm.clear();
    // It may have failed while it was being stopped: how it ended is told there.
    if (this.#life.matches('failed')) return;
    this.#life.move(event);
    this.#options.onEnded();
  }

  #fail(thrown: unknown): void {
    const { fires, onEnded } = this.#options;
    const failure = BackgroundTaskError.from(thrown, 'runner');
    this.#core.log.write(`the schedule ends: ${failure.message}`);
    this.#life.move('FAIL');
    this.#alarm.clear();
    void fires
      .stop('its schedule has failed')
      .catch(() => undefined)
      .then(() => fires.whenGone())
      .then(() => onEnded(failure));
  }

  #command(participle: string, work: () => Promise<void>): Promise<void> {
    return this.#core.mutex.run(async () => {
      this.#requireLive(participle);
      await work();
    });
  }

  #requireLive(participle: string): void {
    if (this.isLive) return;
    throw new BackgroundTaskError(
      'validation',
      `schedule "${this.#core.scheduleId}" has ended and cannot be ${participle}`,
      { code: 'SCHEDULE_ENDED' },
    );
  }

  #requireRecorded(participle: string): void {
    if (this.#retryAtMs === undefined) return;
    throw new BackgroundTaskError(
      'storage',
      `schedule "${this.#core.scheduleId}" cannot be ${participle}: ${this.#trouble ?? 'records are missing'}`,
      {
        code: 'SCHEDULE_RECORD',
        hint: 'Slots that passed must be recorded first; try again when the store works.',
      },
    );
  }

  #now(): string {
    return instantOf(this.#core.clock.now());
  }
}
