/**
 * The ports behind schedules that exist without a program: where they are kept, how they stand, and what they send
 * into.
 */
import type { ErrorRecord } from '../../machines/errors.ts';
import type { ScheduleState } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleDefinition, SessionTarget } from '../../machines/schedule/schedule-definition.ts';

/** One definition, or what is wrong with the place where one should be. */
export type ScheduleListing =
  | { readonly id: string; readonly definition: ScheduleDefinition }
  | { readonly id: string; readonly error: ErrorRecord };

export interface ScheduleDefinitions {
  /**
   * By id. A definition that cannot be read is listed with its error and hides no other. @throws RuntimeError category
   * `storage`
   */
  list(): Promise<readonly ScheduleListing[]>;
  /** @throws RuntimeError SCHEDULE_NOT_FOUND, SCHEDULE_DEFINITION_INVALID, or category `storage` */
  get(id: string): Promise<ScheduleDefinition>;
  /** Durable when it resolves. @throws RuntimeError SCHEDULE_EXISTS, or category `storage` */
  add(definition: ScheduleDefinition): Promise<void>;
  /** Takes the place of what is there, whatever it is, at once and as a whole. */
  replace(definition: ScheduleDefinition): Promise<void>;
  /** @throws RuntimeError SCHEDULE_NOT_FOUND, or category `storage` */
  remove(id: string): Promise<void>;
  /**
   * Lets those who watch, in any process, know that something about the schedule has changed. Not an error when it is
   * gone.
   */
  ring(id: string): Promise<void>;
  /**
   * Calls `onChange` after definitions may have changed or a caller has rung, in any process. It may be called too
   * often, and a change may go unheard: a listener that needs all of them checks now and then as well. Returns the
   * function that ends it.
   */
  watch(onChange: () => void): () => void;
}

/** How a schedule stood at one moment. Revisions count from 1; 0 is the state of a schedule without a record. */
export interface RecordedScheduleState {
  readonly revision: number;
  readonly state: ScheduleState;
}

export interface ScheduleStates {
  /** The newest one; undefined when none is recorded. @throws RuntimeError category `storage` */
  load(definition: ScheduleDefinition): Promise<RecordedScheduleState | undefined>;
  /**
   * Records the state that follows revision `after`, durably. Of all who do so exactly one gets true; the others
   * load and decide again.
   * @throws RuntimeError category `storage`; then it may be recorded all the same
   */
  record(definition: ScheduleDefinition, after: number, state: ScheduleState): Promise<boolean>;
}

/** What a schedule may do with sessions. */
export interface ScheduledSessions {
  /** The same key again stores nothing and answers the same. @throws RuntimeError as Sessions.send does */
  send(
    sessionId: string,
    message: { readonly type: 'user.message'; readonly text: string },
    options: { readonly idempotencyKey: string; readonly delivery?: SessionTarget['delivery'] },
  ): Promise<{ readonly seq: number }>;
}
