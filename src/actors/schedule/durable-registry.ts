/**
 * The schedules that exist without a program: adds, changes and shows them. It fires nothing and needs no worker; what
 * it changes takes effect in workers that run, in this process or another, and in those that start later.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { newScheduleState, withStatus } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleState, StatusReason } from '../../machines/schedule/schedule-state.ts';
import { checkedNewSchedule, checkedScheduleId, slotsKeyOf } from '../../machines/schedule/schedule-definition.ts';
import type { NewSchedule, ScheduleDefinition } from '../../machines/schedule/schedule-definition.ts';
import { epochMsOf, instantOf } from '../../machines/schedule/slot-record.ts';
import type { MissedReason, ScheduleRecord } from '../../machines/schedule/slot-record.ts';
import type { Clock } from '../clock/clock.ts';
import type { CronPlan, CronTimes } from './cron-plan.ts';
import type { ScheduleDefinitions, ScheduleStates } from './durable-ports.ts';
import type { ScheduleStore } from './schedule-store.ts';

/** One schedule as of now, as far as a worker has to know. */
export interface ScheduleSummary {
  readonly id: string;
  readonly definition: ScheduleDefinition;
  readonly state: ScheduleState;
}

/** One schedule as of now. */
export interface ScheduleOverview extends ScheduleSummary {
  /** When the next slot fires, if a worker runs then. */
  readonly nextFireAt?: string | undefined;
  /** The first slot that has come due and that no worker has fired or missed since. */
  readonly dueSince?: string | undefined;
  /** The last slot that has come due and is decided: it ran, or the records of its slots say why not. */
  readonly lastSlot?: string | undefined;
}

export interface UnreadableSchedule {
  readonly id: string;
  readonly error: ErrorRecord;
}

export type ScheduleView = ScheduleOverview | UnreadableSchedule;

export interface ScheduleRegistryOptions {
  readonly definitions: ScheduleDefinitions;
  readonly states: ScheduleStates;
  /** The same as that of the runner of scheduled tasks. */
  readonly slots: ScheduleStore;
  readonly cron: CronPlan;
  readonly clock: Clock;
  /** Makes a UUID that was never used. Default: a random one. */
  readonly newSeries?: (() => string) | undefined;
}

/** A worker that knows a schedule fires it within as long, and knows a new one after as long where it is told of nothing. */
const PUNCTUAL_MS = 5_000;
const NOTICED_MS = 30_000;

type StatusChange = 'PAUSE' | 'RESUME' | 'END';

/** States are replaced one after another; how often one change may be overtaken before its caller is told. */
const MAX_ATTEMPTS = 64;

export class ScheduleRegistry {
  readonly #options: ScheduleRegistryOptions;
  readonly #newId: () => string;

  constructor(options: ScheduleRegistryOptions) {
    this.#options = options;
    this.#newId = options.newSeries ?? (() => crypto.randomUUID());
  }

  /**
   * Slots count from now on. @throws RuntimeError SCHEDULE_INVALID, SCHEDULE_EXISTS, or one about the expression or the
   * time zone
   */
  async add(request: NewSchedule): Promise<ScheduleDefinition> {
    const { definitions, clock } = this.#options;
    const definition = this.#definitionOf(request, { createdAt: instantOf(clock.now()), series: this.#newId() });
    // A courtesy that leaves no records behind; what counts is the refusal of `definitions.add`.
    await this.#requireFree(definition.id);
    // Before the definition: no slot that comes due once the schedule exists may go unrecorded.
    await this.#append(definition, [planned(definition, definition.createdAt)]);
    await definitions.add(definition);
    return definition;
  }

  /**
   * Another definition under the same id. Its runs and failures so far stay counted, unless it has ended: then it
   * begins anew.
   * @throws as `add` does, and SCHEDULE_NOT_FOUND
   */
  async replace(request: NewSchedule): Promise<ScheduleDefinition> {
    const { definitions, clock } = this.#options;
    const before = await definitions.get(checkedNewSchedule(request).id);
    const hasEnded = (await this.stateOf(before)).status === 'ended';
    const definition = this.#definitionOf(
      request,
      hasEnded ? { createdAt: instantOf(clock.now()), series: this.#newId() } : before,
    );
    if (hasEnded) await this.#append(definition, [planned(definition, definition.createdAt)]);
    await definitions.replace(definition);
    if (!hasEnded && (before.cron !== definition.cron || before.timezone !== definition.timezone)) {
      await this.#closePassedSlots(before, 'plan-changed');
      await this.#append(definition, [planned(definition, instantOf(clock.now()))]);
    }
    return definition;
  }

  /**
   * Its slots fire no more, and a run of it that goes on is cancelled. The records of what it did are kept. @throws
   * RuntimeError SCHEDULE_NOT_FOUND
   */
  async remove(id: string): Promise<void> {
    await this.#options.definitions.remove(checkedScheduleId(id));
  }

  /** Idempotent. @throws RuntimeError SCHEDULE_NOT_FOUND, SCHEDULE_ENDED */
  async pause(id: string): Promise<ScheduleOverview> {
    return this.#command(id, 'PAUSE');
  }

  /** Slots that passed meanwhile do not fire. Idempotent. @throws RuntimeError SCHEDULE_NOT_FOUND, SCHEDULE_ENDED */
  async resume(id: string): Promise<ScheduleOverview> {
    return this.#command(id, 'RESUME');
  }

  /** @throws RuntimeError SCHEDULE_NOT_FOUND, SCHEDULE_DEFINITION_INVALID, or category `storage` */
  async get(id: string): Promise<ScheduleOverview> {
    return this.#overviewOf(await this.#options.definitions.get(checkedScheduleId(id)));
  }

  /** @throws RuntimeError SCHEDULE_NOT_FOUND, SCHEDULE_DEFINITION_INVALID, or category `storage` */
  definition(id: string): Promise<ScheduleDefinition> {
    return this.#options.definitions.get(id);
  }

  /** Every schedule by id; one that cannot be read with what is wrong with it. */
  list(): Promise<readonly ScheduleView[]> {
    return this.#each((definition) => this.#overviewOf(definition));
  }

  /** The same in brief: its cost is that of reading two small files for each schedule. */
  summaries(): Promise<readonly (ScheduleSummary | UnreadableSchedule)[]> {
    return this.#each(async (definition) => ({
      id: definition.id,
      definition,
      state: await this.stateOf(definition),
    }));
  }

  /** What is recorded of its slots, oldest first, records without effect included. */
  records(definition: ScheduleDefinition): AsyncIterable<ScheduleRecord> {
    return this.#options.slots.records(slotsKeyOf(definition));
  }

  /** Calls `onChange` after something may have changed, in any process. Returns the function that ends it. */
  watch(onChange: () => void): () => void {
    return this.#options.definitions.watch(onChange);
  }

  async stateOf(definition: ScheduleDefinition): Promise<ScheduleState> {
    return (await this.#options.states.load(definition))?.state ?? newScheduleState(definition.createdAt);
  }

  /** Ends it, for a reason that is not its own limits. Nothing when it has ended already. */
  async end(definition: ScheduleDefinition, reason: StatusReason): Promise<void> {
    await this.change(definition, (state) => withStatus(state, { type: 'END', at: this.#now(), reason }));
  }

  /**
   * Replaces the state by what `decide` makes of it, exactly once, however many do so at the same time; `decide` may
   * be asked again, and answers undefined to leave all as it is. Resolves with the state in force.
   */
  async change(
    definition: ScheduleDefinition,
    decide: (state: ScheduleState) => ScheduleState | undefined,
  ): Promise<ScheduleState> {
    const { states } = this.#options;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { revision, state } = (await states.load(definition)) ?? {
        revision: 0,
        state: newScheduleState(definition.createdAt),
      };
      const next = decide(state);
      if (next === undefined || next === state) return state;
      if (!(await states.record(definition, revision, next))) continue;
      if (next.status !== state.status) await this.#announce(definition, next);
      return next;
    }
    throw new RuntimeError(
      'SCHEDULE_BUSY',
      `the state of schedule "${definition.id}" was changed by others ${MAX_ATTEMPTS} times in a row`,
      { category: 'conflict', hint: 'Try again.' },
    );
  }

  /**
   * Makes sure that it can run: its plan can be read, and what a crash between two records has left is put right.
   * @throws as `add` does
   */
  async reconcile(definition: ScheduleDefinition): Promise<void> {
    this.#timesOf(definition);
    await this.#passOn(definition, await this.stateOf(definition));
  }

  async #command(id: string, type: StatusChange): Promise<ScheduleOverview> {
    const definition = await this.#options.definitions.get(checkedScheduleId(id));
    const state = await this.change(definition, (before) => {
      if (before.status === 'ended') throw endedAlready(definition.id, before.reason);
      return withStatus(before, { type, at: this.#now() });
    });
    // Again, in case the process that made this change before died between the two.
    await this.#announce(definition, state);
    return this.#overviewOf(definition);
  }

  async #announce(definition: ScheduleDefinition, state: ScheduleState): Promise<void> {
    await this.#passOn(definition, state);
    await this.#options.definitions.ring(definition.id);
  }

  /** The slots' own record has to know as well: it says what becomes of those that pass. */
  async #passOn(definition: ScheduleDefinition, { status }: ScheduleState): Promise<void> {
    const { paused } = await this.#options.slots.load(slotsKeyOf(definition));
    const isPaused = status === 'paused' || status === 'parked';
    if (status === 'ended' || paused === isPaused) return;
    if (paused) await this.#closePassedSlots(definition, 'paused');
    await this.#append(definition, [
      { v: 1, type: isPaused ? 'schedule.paused' : 'schedule.resumed', at: this.#now() },
    ]);
  }

  /** Records undecided slots as missed: where no worker ran, what comes next must not take them for its own. */
  async #closePassedSlots(definition: ScheduleDefinition, reason: MissedReason): Promise<void> {
    const { slots, clock } = this.#options;
    const { through } = await slots.load(slotsKeyOf(definition));
    const last = this.#timesOf(definition).previous(clock.now() + 1);
    if (through === undefined || last === undefined || last <= epochMsOf(through)) return;
    await this.#append(definition, [
      {
        v: 1,
        type: 'slots.missed',
        at: this.#now(),
        owner: this.#newId(),
        after: through,
        upTo: instantOf(last),
        reason,
      },
    ]);
  }

  async #overviewOf(definition: ScheduleDefinition): Promise<ScheduleOverview> {
    const [state, { through }] = await Promise.all([
      this.stateOf(definition),
      this.#options.slots.load(slotsKeyOf(definition)),
    ]);
    const { runs, status } = state;
    const { createdAt, limits } = definition;
    const times = this.#timesOf(definition);
    const nowMs = this.#options.clock.now();
    const dueMs = status === 'active' && through !== undefined ? times.next(epochMsOf(through)) : undefined;
    const isLate = dueMs !== undefined && dueMs < nowMs - PUNCTUAL_MS && epochMsOf(state.since) < nowMs - NOTICED_MS;
    // One that is due, and not fired yet, is not passed over in silence.
    const comesMs = dueMs !== undefined && dueMs <= nowMs && !isLate ? dueMs : times.next(nowMs);
    const nextMs = status === 'active' && runs < (limits.maxRuns ?? Infinity) ? comesMs : undefined;
    const isWithin = nextMs !== undefined && (limits.until === undefined || nextMs <= epochMsOf(limits.until));
    const lastMs = through === undefined ? undefined : times.previous(epochMsOf(through) + 1);
    const hasCome = lastMs !== undefined && lastMs > epochMsOf(createdAt);
    return {
      id: definition.id,
      definition,
      state,
      ...(isWithin ? { nextFireAt: instantOf(nextMs) } : {}),
      ...(isLate ? { dueSince: instantOf(dueMs) } : {}),
      ...(hasCome ? { lastSlot: instantOf(lastMs) } : {}),
    };
  }

  async #each<Check>(
    check: (definition: ScheduleDefinition) => Promise<Check>,
  ): Promise<readonly (Check | UnreadableSchedule)[]> {
    const checks: (Check | UnreadableSchedule)[] = [];
    for (const listing of await this.#options.definitions.list()) {
      if ('error' in listing) checks.push(listing);
      else
        checks.push(
          await check(listing.definition).catch((thrown: unknown) => ({ id: listing.id, error: recordOf(thrown) })),
        );
    }
    return checks;
  }

  async #requireFree(id: string): Promise<void> {
    const isFree = await this.#options.definitions.get(id).then(
      () => false,
      (thrown: unknown) => RuntimeError.is(thrown) && thrown.code === 'SCHEDULE_NOT_FOUND',
    );
    if (!isFree) throw alreadyThere(id);
  }

  /** Complete, and sure to fire at least once. */
  #definitionOf(
    request: NewSchedule,
    { createdAt, series }: Pick<ScheduleDefinition, 'createdAt' | 'series'>,
  ): ScheduleDefinition {
    const { timezone, ...rest } = checkedNewSchedule(request);
    const times = this.#options.cron.read({ cronExpression: rest.cron, timezone });
    const first = times.next(this.#options.clock.now());
    if (first === undefined)
      throw neverFires(`"${rest.cron}" in ${times.plan.timezone} has no time after ${this.#now()}`);
    const { until } = rest.limits;
    if (until !== undefined && first > epochMsOf(until))
      throw neverFires(`the first time of "${rest.cron}" is ${instantOf(first)}, after its end at ${until}`);
    return { v: 1, ...rest, timezone: times.plan.timezone, createdAt, series };
  }

  #timesOf({ cron, timezone }: ScheduleDefinition): CronTimes {
    return this.#options.cron.read({ cronExpression: cron, timezone });
  }

  async #append(definition: ScheduleDefinition, records: readonly ScheduleRecord[]): Promise<void> {
    await this.#options.slots.append(slotsKeyOf(definition), records);
  }

  #now(): string {
    return instantOf(this.#options.clock.now());
  }
}

function planned({ cron, timezone }: ScheduleDefinition, at: string): ScheduleRecord {
  return { v: 1, type: 'schedule.planned', at, cronExpression: cron, timezone };
}

function alreadyThere(id: string): RuntimeError {
  return new RuntimeError('SCHEDULE_EXISTS', `there is a schedule "${id}" already`, {
    category: 'conflict',
    hint: 'Choose another id, or replace it.',
    details: { scheduleId: id },
  });
}

function endedAlready(id: string, reason: StatusReason | undefined): RuntimeError {
  return new RuntimeError(
    'SCHEDULE_ENDED',
    `schedule "${id}" has ended${reason === undefined ? '' : `: ${reason.message}`}`,
    {
      category: 'conflict',
      hint: 'Replace it, or remove it and add it again.',
      details: { scheduleId: id },
    },
  );
}

function neverFires(message: string): RuntimeError {
  return new RuntimeError('SCHEDULE_NEVER_FIRES', message, {
    category: 'validation',
    hint: 'Check its day, month and year, and at where it is to end.',
  });
}

function recordOf(thrown: unknown): ErrorRecord {
  return (
    RuntimeError.is(thrown)
      ? thrown
      : new RuntimeError('SCHEDULE_STORE', messageOf(thrown), { category: 'storage', cause: thrown })
  ).toJSON();
}
