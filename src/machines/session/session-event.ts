/** Session events as data: the envelope, the union of all types, and how both are read from what a store holds. */
import type * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import type { HandedDown } from '../permission/handed-down.ts';
import { isUuidV7 } from '../ids.ts';
import { sessionEventDefinitions } from './event-schemas.ts';
import { formerEventTypes } from './former-events.ts';
import { parseOrThrow } from '../validate.ts';

type Definitions = typeof sessionEventDefinitions;

export type SessionEventType = keyof Definitions;
export type SessionEventData<Type extends SessionEventType> = Readonly<z.output<Definitions[Type]['data']>>;

/** An event as it is stored. The store adds `seq` and `sessionId`, which follow from where it lies. */
export interface NewSessionEvent {
  /** UUIDv7. */
  readonly id: string;
  /** ISO-8601, from the clock of the process that appended it. */
  readonly at: string;
  /** Of the wake that wrote it; absent for events from outside. */
  readonly epoch?: number | undefined;
  readonly type: string;
  /** Version of the type. */
  readonly v: number;
  readonly data: unknown;
}

export interface SessionEventOf<Type extends SessionEventType> extends NewSessionEvent {
  readonly type: Type;
  readonly data: SessionEventData<Type>;
  /** Position in the log, dense from 1. */
  readonly seq: number;
  readonly sessionId: string;
}

export type SessionEvent = { readonly [Type in SessionEventType]: SessionEventOf<Type> }[SessionEventType];

/** What a caller wants to append: the envelope comes later. */
export type SessionEventDraft = {
  readonly [Type in Exclude<SessionEventType, 'event.unrecognized'>]: {
    readonly type: Type;
    readonly data: DraftData<Type>;
    /** The event's own id, where its data has to name it. */
    readonly id?: string | undefined;
  };
}[Exclude<SessionEventType, 'event.unrecognized'>];

/**
 * A caller that makes a session that works for another one has to say what binds it: without bounds that were handed
 * down, there is no draft. Logs of earlier versions may lack them, so the schemas cannot demand it.
 */
type DraftData<Type extends SessionEventType> = Type extends 'session.created'
  ? OfItsOwn<Input<Type>> | BoundChild<Input<Type>>
  : Type extends 'agent.subflow_started' | 'subagent.started'
    ? Bound<Input<Type>>
    : Input<Type>;

type Input<Type extends SessionEventType> = Readonly<z.input<Definitions[Type]['data']>>;
type Bound<Data> = Omit<Data, 'restriction'> & { readonly restriction: HandedDown };
type OfItsOwn<Data> = Omit<Data, 'parent'> & { readonly parent?: undefined };
type BoundChild<Data extends { readonly parent?: unknown }> = Omit<Bound<Data>, 'parent'> & {
  readonly parent: NonNullable<Data['parent']>;
};

export type CheckedDraft = {
  readonly [Type in SessionEventType]: {
    readonly type: Type;
    readonly v: number;
    readonly data: SessionEventData<Type>;
  };
}[SessionEventType];

/** An event whose data is known to be that of its type. Made by `readStoredEvent` only. */
export interface StoredEvent extends NewSessionEvent {
  readonly type: SessionEventType;
}

function isKnown(type: string): type is SessionEventType {
  return Object.hasOwn(sessionEventDefinitions, type) && type !== 'event.unrecognized';
}

/** A draft with its data validated. @throws RuntimeError SESSION_EVENT_INVALID */
export function checkDraft(draft: SessionEventDraft): CheckedDraft {
  const type: string = draft.type;
  if (!isKnown(type)) {
    throw new RuntimeError('SESSION_EVENT_INVALID', `"${type}" is not a type of session event`, {
      category: 'validation',
      hint: 'Use one of the event types listed in the event catalogue.',
    });
  }
  const { v, data } = sessionEventDefinitions[type];
  const checked = parseOrThrow(data, draft.data, { what: `event ${type}`, code: 'SESSION_EVENT_INVALID' });
  // The lookup by type ties data and type together, which the compiler cannot follow through a computed key.
  return { type, v, data: checked } as CheckedDraft;
}

/**
 * Checks an event that a store holds, and brings it to the name and the version of today. Types and versions that this
 * release does not know are wrapped as `event.unrecognized`; what is no event at all, or claims a known type without
 * its data, is `undefined` and counts as damage.
 */
export function readStoredEvent(stored: unknown): StoredEvent | undefined {
  if (!isNewSessionEvent(stored)) return undefined;
  const { id, at, epoch, v } = stored;
  const type = formerEventTypes.get(stored.type) ?? stored.type;
  if (!isKnown(type) || v < 1 || v > sessionEventDefinitions[type].v) {
    return { id, at, epoch, type: 'event.unrecognized', v: 1, data: { type: stored.type, v, data: stored.data } };
  }
  const definition = sessionEventDefinitions[type];
  const { success, data } = definition.data.safeParse(upcast(stored.data, definition.upcasters.slice(v - 1)));
  return success ? { id, at, epoch, type, v: definition.v, data } : undefined;
}

function upcast(data: unknown, upcasters: (typeof sessionEventDefinitions)[SessionEventType]['upcasters']): unknown {
  // The envelope was checked: data is an object.
  return upcasters.reduce((older, step) => step(older), data as Readonly<Record<string, unknown>>);
}

/** A stored event at its place in a log. */
export function placeEvent(
  { id, at, epoch, type, v, data }: StoredEvent,
  sessionId: string,
  seq: number,
): SessionEvent {
  // The lookup by type has tied data and type together, which the compiler cannot follow through a computed key.
  const event =
    epoch === undefined ? { id, seq, at, sessionId, type, v, data } : { id, seq, at, sessionId, epoch, type, v, data };
  return event as SessionEvent;
}

/** Whether a value has the envelope of an event. Cheap: it runs for every event of every log that is opened. */
function isNewSessionEvent(value: unknown): value is NewSessionEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, at, epoch, type, v, data } = value as Partial<Record<keyof NewSessionEvent, unknown>>;
  return (
    typeof id === 'string' &&
    isUuidV7(id) &&
    typeof at === 'string' &&
    typeof type === 'string' &&
    type.length > 0 &&
    Number.isSafeInteger(v) &&
    typeof data === 'object' &&
    data !== null &&
    (epoch === undefined || (typeof epoch === 'number' && Number.isSafeInteger(epoch) && epoch > 0))
  );
}
