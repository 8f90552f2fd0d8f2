/**
 * How the chart of a session, which has no end, is read as a piece of work that has one, as other protocols want it: one
 * turn, from a message to the rest that follows it. Every state of the chart and every way in which a wake ends has its
 * row here, and each protocol its word for each phase, so that none can be forgotten.
 */
import type { StateValueFrom } from 'xstate';
import type { SessionEventData } from '../session/session-event.ts';
import type { sessionMachine } from '../session/session-machine.ts';

/**
 * `queued`: the message waits for a wake. `working`: a wake is at it, or a child. `asking`: a person or client has to
 * answer. The others are ends.
 */
export type TurnPhase =
  | 'queued'
  | 'working'
  | 'asking'
  | 'completed'
  | 'budget_reached'
  | 'failed'
  | 'interrupted'
  | 'terminated';

export const IS_END: Readonly<Record<TurnPhase, boolean>> = {
  queued: false,
  working: false,
  asking: false,
  completed: true,
  budget_reached: true,
  failed: true,
  interrupted: true,
  terminated: true,
};

type Value = StateValueFrom<typeof sessionMachine>;
type Nested = Exclude<Value, string>;

/** The states of the chart of a session that have no states of their own, as paths. */
export type SessionPlace = Exclude<Extract<Value, string>, keyof Nested> | `idle.${NonNullable<Nested['idle']>}`;

/** While the session is there, a turn that has not ended is in this phase. */
export const PHASE_IN: Readonly<Record<SessionPlace, TurnPhase>> = {
  'idle.resting': 'queued',
  'idle.requires_action': 'asking',
  running: 'working',
  rescheduling: 'working',
  terminated: 'terminated',
};

export type WakeEnding = SessionEventData<'wake.ended'>['outcome'];

/** When the session comes to rest after a wake that ended so and has read the message: after some another one goes on. */
export const PHASE_AFTER: Readonly<Record<WakeEnding, TurnPhase>> = {
  sleep: 'completed',
  requires_action: 'completed',
  rescheduled: 'completed',
  budget_reached: 'budget_reached',
  failed: 'working',
  interrupted: 'interrupted',
  aborted: 'working',
  terminated: 'terminated',
  lost: 'working',
};
