/** Who reads a message first, as far as the log before it tells: a fact about its place in the log, which nothing that comes after makes untrue. */
import type { DeliveryMode, MessageIntake } from './event-schemas.ts';
import type { SessionEvent } from './session-event.ts';
import type { SessionState } from './session-state.ts';

/**
 * `running_turn`: it is given to the turn that runs; when that ends before it has taken it, the next step reads it. `next_step`: the next
 * model step. `next_turn`: the turn after the one that runs. `next_wake`: no wake runs, or the one that does is cut short.
 */
export type MessageReader = 'running_turn' | 'next_step' | 'next_turn' | 'next_wake';

/** What goes on where a message comes in: no wake, a wake between two model steps, or a model step, by how messages reach it. */
export type MessagePlace = 'no_wake' | 'between_steps' | MessageIntake;

export interface PlacedMessage {
  readonly delivery: DeliveryMode;
  /** Files are read by a step only. */
  readonly hasFiles: boolean;
}

export function readerOf({ delivery, hasFiles }: PlacedMessage, place: MessagePlace): MessageReader {
  if (place === 'no_wake' || delivery === 'interrupt') return 'next_wake';
  if (delivery === 'queue' || place === 'next_turn') return 'next_turn';
  return place === 'running' && !hasFiles ? 'running_turn' : 'next_step';
}

export function placeOf({ openWake, openSpanId, openSpanIntake = 'next_step' }: SessionState): MessagePlace {
  // One that was interrupted reads nothing more.
  if (openWake === undefined || openWake.interruption !== undefined) return 'no_wake';
  return openSpanId === undefined ? 'between_steps' : openSpanIntake;
}

/** The place after this event; undefined when it says nothing about it, and the one before has to be looked at. */
export function placeAfter({ type, data }: SessionEvent): MessagePlace | undefined {
  switch (type) {
    case 'wake.ended':
    case 'user.interrupt':
      return 'no_wake';
    case 'wake.started':
    case 'span.completed':
      return 'between_steps';
    case 'span.started':
    case 'run.candidate_selected':
      return data.intake ?? 'next_step';
    default:
      return undefined;
  }
}
