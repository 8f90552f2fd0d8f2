/**
 * What `createWebSocketInspector` of @statelyai/inspect sends, one JSON text for each frame: an actor that was made, an
 * event that was sent to one, and how an actor stands after it has processed one. Read with what is known of it; other
 * fields are passed over, other types are told apart.
 */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
import { describeIssues } from '../validate.ts';
import { ACTOR_STATUSES } from './actor-statuses.ts';
import { isInspectedValue } from './inspection-record.ts';
import type { InspectedValue } from './inspection-record.ts';

const STATELY_FRAME_TYPES = ['@xstate.actor', '@xstate.event', '@xstate.snapshot'] as const;

/** What the senders of this format call the version of it that is written and read here. */
export const STATELY_VERSION = '0.7.2';

const MAX_ID_CHARACTERS = 200;
/** Of a complaint about a frame. */
const MAX_COMPLAINT_CHARACTERS = 300;

/** Of a state, as JSON: parallel ones may be large, and every step says it. */
const MAX_VALUE_CHARACTERS = 65_536;

const id = z.string().min(1).max(MAX_ID_CHARACTERS);
const absentId = id.nullish();
const value = z.custom<InspectedValue>(
  (given) => given === undefined || (isInspectedValue(given) && JSON.stringify(given).length <= MAX_VALUE_CHARACTERS),
  `expected a state: a string, or states in objects, in at most ${MAX_VALUE_CHARACTERS} characters`,
);

const snapshot = z.object({
  status: z.enum(ACTOR_STATUSES).default('active'),
  value: value.optional(),
  context: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
});
const event = z.looseObject({ type: z.string() });

/** Milliseconds since the epoch, written as a text. */
const common = { sessionId: id, rootId: absentId, createdAt: z.string().max(40).optional() };

const actorFrame = z.object({
  ...common,
  type: z.literal('@xstate.actor'),
  name: z.string().nullish(),
  parentId: absentId,
  definition: z.string().nullish(),
  snapshot: snapshot.nullish(),
});
const eventFrame = z.object({ ...common, type: z.literal('@xstate.event'), sourceId: absentId, event });
const snapshotFrame = z.object({
  ...common,
  type: z.literal('@xstate.snapshot'),
  event,
  snapshot: snapshot.nullable(),
});

const statelyFrame = z.discriminatedUnion('type', [actorFrame, eventFrame, snapshotFrame]);

export type StatelyActorFrame = Readonly<z.output<typeof actorFrame>>;
export type StatelyEventFrame = Readonly<z.output<typeof eventFrame>>;
export type StatelySnapshotFrame = Readonly<z.output<typeof snapshotFrame>>;
export type StatelyFrame = StatelyActorFrame | StatelyEventFrame | StatelySnapshotFrame;
export type StatelySnapshot = Readonly<z.output<typeof snapshot>>;
export type StatelyEvent = Readonly<z.output<typeof event>>;

export type ReadStatelyFrame =
  | { readonly frame: StatelyFrame }
  | { readonly unknownType: string }
  | { readonly because: string };

/** @param text one message, whose length the caller has bounded */
export function readStatelyFrame(text: string): ReadStatelyFrame {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return { because: 'expected JSON' };
  }
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return { because: 'expected an object' };
  const { type } = stored as { readonly type?: unknown };
  if (typeof type !== 'string') return { because: 'type: expected the type of the frame' };
  if (!(STATELY_FRAME_TYPES as readonly string[]).includes(type))
    return { unknownType: beginningOf(type, MAX_ID_CHARACTERS) };
  try {
    const parsed = statelyFrame.safeParse(stored);
    return parsed.success
      ? { frame: parsed.data }
      : { because: beginningOf(describeIssues(parsed.error).join('; '), MAX_COMPLAINT_CHARACTERS) };
  } catch {
    // Schemas recurse: what is nested deeper than the stack is no frame.
    return { because: 'it is nested too deeply' };
  }
}
