/**
 * The fires of one schedule: at most one runs, others stand in line. Slots are offered here; each is claimed in the
 * store before its task is asked for, so no slot fires twice, and each leaves a record. Everything but `stop` is called
 * from the schedule's mutex, one at a time.
 */
import { messageOf } from '../../machines/errors.ts';
import type { DueSlots } from '../../machines/schedule/due-slots.ts';
import type { OverlapDecision } from '../../machines/schedule/overlap.ts';
import { decideOverlap } from '../../machines/schedule/overlap.ts';
import type { MissedReason, RecordOf, ScheduleRecord } from '../../machines/schedule/slot-record.ts';
import { epochMsOf, instantOf } from '../../machines/schedule/slot-record.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskRequestInput, OverlapPolicy } from '../../machines/task/task-request.ts';
import type { ChildTasks } from '../task/task-runner.ts';
import type { ScheduleCore } from './schedule-core.ts';

// One fire of a schedule: the child task of one slot, from the request for it to its end.

class Fire {
  readonly slot: string;
  readonly #children: ChildTasks;
  #childTaskId: string | undefined = undefined;
  /** Settles with the child's id, or rejects with the reason why there is none. */
  readonly started: Promise<string>;
  /** Resolves when nothing of the fire runs, however it ended. */
  readonly ended: Promise<void>;
  #cancelling: Promise<void> | undefined = undefined;

  /** Asks for the child before it returns. */
  constructor(slot: string, children: ChildTasks, request: BackgroundTaskRequestInput) {
    this.slot = slot;
    this.#children = children;
    this.started = this.#spawn(request);
    this.ended = this.started.then((childTaskId) => children.wait(childTaskId)).then(nothing, nothing);
  }

  get childTaskId(): string | undefined {
    return this.#childTaskId;
  }

  /**
   * Cancels the child, as soon as there is one. The first reason counts. @throws what the child could not be cancelled
   * for
   */
  cancel(reason: string): Promise<void> {
    this.#cancelling ??= this.started.then((childTaskId) => this.#children.cancel(childTaskId, reason), nothing);
    return this.#cancelling;
  }

  async #spawn(request: BackgroundTaskRequestInput): Promise<string> {
    try {
      const { id } = await this.#children.spawn(request);
      this.#childTaskId = id;
      return id;
    } catch (thrown) {
      throw BackgroundTaskError.from(thrown, 'runner');
    }
  }
}

const nothing = (): void => undefined;

export interface FireLineOptions {
  readonly core: ScheduleCore;
  readonly children: ChildTasks;
  readonly requestFor: (slot: string) => BackgroundTaskRequestInput;
  /** Whether something may start: the chart of the schedule knows. */
  readonly isLive: () => boolean;
  /**
   * Called right before and right after the child is asked for. Between them the schedule's task is awake and holds a
   * slot of the pool.
   */
  readonly onWaking: () => void;
  readonly onAsleep: () => void;
  /** There is something to see to: a fire has ended and the line may move, or a record waits to be stored. */
  readonly onNews: () => void;
}

/** Slots that have come due, and what the catch-up policy made of them. */
export interface DueDecision {
  readonly older: DueSlots['older'];
  /** Ascending. */
  readonly missed: readonly number[];
  /** Ascending, and newer than those missed. */
  readonly fire: readonly number[];
  /** Why those missed were. */
  readonly reason: MissedReason;
  readonly overlap: OverlapPolicy;
}

export class FireLine {
  readonly #options: FireLineOptions;
  readonly #core: ScheduleCore;
  #running: Fire | undefined = undefined;
  /** Epoch milliseconds, ascending. */
  #line: readonly number[] = [];
  #replaced: RecordOf<'slot.fired'>['cancelledPrevious'] = undefined;
  /** Ended fires whose task records are still there, oldest first. */
  readonly #kept: string[] = [];

  constructor(options: FireLineOptions) {
    this.#options = options;
    this.#core = options.core;
  }

  /** Whether no fire runs and none is in line. */
  get isIdle(): boolean {
    return this.#running === undefined && this.#line.length === 0;
  }

  get lineLength(): number {
    return this.#line.length;
  }

  /** Takes over slots that an earlier run of the schedule had in line. */
  inherit(slots: readonly number[]): void {
    this.#line = [...slots, ...this.#line].toSorted((a, b) => a - b);
  }

  /**
   * Records what becomes of due slots, and fires the one whose turn it is. @throws BackgroundTaskError `storage`; then
   * nothing has happened
   */
  async settle(due: DueDecision): Promise<void> {
    const { overlap } = due;
    const decision = decideOverlap({
      policy: overlap,
      batch: due.fire,
      isBusy: this.#running !== undefined,
      line: this.#line,
      lineLimit: this.#core.limits.maxLine,
    });
    const records = this.#recordsOf(due, decision);
    const held = await this.#core.journal.append(records);
    // A slot is named by one of the records at most.
    const ours = new Set(
      records.flatMap((record, index) => (held[index] === true && 'slot' in record ? [epochMsOf(record.slot)] : [])),
    );
    const gone = new Set(decision.skip.map(({ slot }) => slot));
    this.#line = [...this.#line.filter((slot) => !gone.has(slot)), ...decision.queue.filter((slot) => ours.has(slot))];
    if (decision.cancelRunning) this.#cancelRunning(due.fire);
    if (decision.fire !== undefined && ours.has(decision.fire)) this.#begin(decision.fire);
  }

  /**
   * Lets the next slot in line fire when none runs. @throws BackgroundTaskError `storage`; then the line has not moved
   */
  async advance(): Promise<void> {
    const { isLive } = this.#options;
    for (let [slot] = this.#line; slot !== undefined && this.#running === undefined && isLive(); [slot] = this.#line) {
      const [held] = await this.#core.journal.append([{ type: 'slot.claimed', ...this.#ofSlot(slot) }]);
      this.#line = this.#line.slice(1);
      if (held === true) this.#begin(slot);
      else this.#replaced = undefined;
    }
  }

  /** Cancels what runs. Resolves when it is gone. @throws when the child cannot be cancelled */
  async stop(reason: string): Promise<void> {
    const fire = this.#running;
    if (fire === undefined) return;
    const cancelled = fire.cancel(reason).then(() => fire.ended);
    await Promise.race([fire.ended, cancelled]);
  }

  /** Resolves when no fire runs. */
  async whenGone(): Promise<void> {
    await this.#running?.ended;
  }

  #recordsOf({ older, missed, reason, overlap }: DueDecision, decision: OverlapDecision): ScheduleRecord[] {
    const { v, at, owner } = this.#stamp();
    const runningSlot = this.#running?.slot;
    const span: ScheduleRecord[] = [];
    if (older !== undefined)
      span.push({
        v,
        type: 'slots.missed',
        at,
        owner,
        after: instantOf(older.afterMs),
        upTo: instantOf(older.upToMs),
        reason,
      });
    const records: (ScheduleRecord & { readonly slot: string })[] = [
      ...missed.map((slot) => ({ type: 'slot.missed' as const, ...this.#ofSlot(slot), reason })),
      ...decision.queue.map((slot) => ({ type: 'slot.queued' as const, ...this.#ofSlot(slot) })),
      ...decision.skip.map((skip) => ({
        type: 'slot.skipped' as const,
        ...this.#ofSlot(skip.slot),
        reason: skip.reason,
        overlap,
        ...(runningSlot === undefined ? {} : { runningSlot }),
      })),
    ];
    if (decision.fire !== undefined) records.push({ type: 'slot.claimed', ...this.#ofSlot(decision.fire) });
    // The ledger takes everything before the newest slot for decided: they must be written in the order of their times.
    return [...span, ...records.toSorted((a, b) => epochMsOf(a.slot) - epochMsOf(b.slot))];
  }

  #begin(slotMs: number): void {
    const { children, requestFor, isLive, onWaking, onAsleep } = this.#options;
    const cancelledPrevious = this.#replaced;
    this.#replaced = undefined;
    if (!isLive()) {
      const error = new BackgroundTaskError('runner', 'the schedule was stopped just then', {
        code: 'SCHEDULE_STOPPED',
      });
      void this.#report(this.#refusal(instantOf(slotMs), error));
      return;
    }
    onWaking();
    // The child is asked for and not waited for: with a single slot in the pool it starts only once this task sleeps
    // again.
    const fire = new Fire(instantOf(slotMs), children, requestFor(instantOf(slotMs)));
    this.#running = fire;
    onAsleep();
    void this.#follow(fire, cancelledPrevious);
  }

  async #follow(fire: Fire, cancelledPrevious: RecordOf<'slot.fired'>['cancelledPrevious']): Promise<void> {
    try {
      const childTaskId = await fire.started;
      const replaced = cancelledPrevious === undefined ? {} : { cancelledPrevious };
      void this.#report({ ...this.#stamp(), type: 'slot.fired', slot: fire.slot, childTaskId, ...replaced });
    } catch (thrown) {
      void this.#report(this.#refusal(fire.slot, BackgroundTaskError.from(thrown, 'runner')));
    }
    await fire.ended;
    this.#running = undefined;
    this.#options.onNews();
    void this.#keep(fire.childTaskId);
  }

  /** The records of old fires would pile up for as long as the schedule lives; what they came to is in the store. */
  async #keep(childTaskId: string | undefined): Promise<void> {
    if (childTaskId === undefined) return;
    this.#kept.push(childTaskId);
    if (this.#kept.length <= this.#core.limits.maxKeptFires) return;
    const oldest = this.#kept.shift() ?? '';
    // It may be closed already.
    await this.#options.children.close(oldest).catch(() => undefined);
  }

  /** Under `cancel-previous` the newest slot takes the place of the running one. */
  #cancelRunning(newer: readonly number[]): void {
    const fire = this.#running;
    if (fire === undefined) return;
    const { childTaskId } = fire;
    this.#replaced = { slot: fire.slot, ...(childTaskId === undefined ? {} : { childTaskId }) };
    const [next] = newer;
    fire
      .cancel(next === undefined ? 'replaced by a newer slot' : `replaced by the slot of ${instantOf(next)}`)
      .catch((thrown: unknown) => {
        this.#core.log.write(`${fire.slot} could not be cancelled: ${messageOf(thrown)}`);
      });
  }

  /** Owed at once: whatever is written next carries it along, so that a crash leaves one claim in doubt at most. */
  async #report(record: ScheduleRecord): Promise<void> {
    const { mutex, journal } = this.#core;
    journal.owe(record);
    const isStored = await mutex.run(() => journal.settleDebts());
    if (!isStored) this.#options.onNews();
  }

  #refusal(slot: string, { code, category, message }: BackgroundTaskError): ScheduleRecord {
    return { ...this.#stamp(), type: 'slot.refused', slot, error: { code, category, message } };
  }

  #stamp(): { readonly v: 1; readonly at: string; readonly owner: string } {
    return { v: 1, at: instantOf(this.#core.clock.now()), owner: this.#core.owner };
  }

  #ofSlot(slotMs: number): { readonly v: 1; readonly at: string; readonly owner: string; readonly slot: string } {
    return { ...this.#stamp(), slot: instantOf(slotMs) };
  }
}
