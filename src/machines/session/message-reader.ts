/**
 * Who reads a message first, as far as the log before it tells: a fact about its place in the log, which nothing that
 * comes after makes untrue.
 */
import type { DeliveryMode, MessageIntake } from './event-parts.ts';
import type { SessionEvent } from './session-event.ts';
import type { SessionState } from './session-state.ts';

/**
 * `running_turn`: it is given to the turn that runs; when that ends before it has taken it, the next step reads it.
 * `next_step`: the next model step. `next_turn`: the turn after the one that runs. `next_wake`: no wake runs, or the
 * one that does is cut short.
 */
export type MessageReader = 'running_turn' | 'next_step' | 'next_turn' | 'next_wake';

/**
 * What goes on where a message comes in: no wake, a wake between two model steps, or a model step, by how messages
 * reach it.
 */
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

/** Finds the place after the newest event of a log from that event back, in as little of the log as tells. */
export class PlaceSearch {
  /** Of the newest step in it. */
  #step: MessagePlace | undefined;

  /** Takes the next older event. @returns the place, once it is clear */
  take({ type, data }: SessionEvent): MessagePlace | undefined {
    if (type === 'wake.ended' || type === 'user.interrupt') return 'no_wake';
    if (type === 'wake.started') return this.#step ?? 'between_steps';
    if (type === 'span.completed') this.#step ??= 'between_steps';
    if (type === 'span.started' || type === 'run.candidate_selected') this.#step ??= data.intake ?? 'next_step';
    return undefined;
  }

  /** The place, when nothing older is left to take but what makes this the place before it. */
  end(before: MessagePlace): MessagePlace {
    return before === 'no_wake' ? before : (this.#step ?? before);
  }
}
