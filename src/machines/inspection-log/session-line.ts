/**
 * A line of an inspection log that is no record: an event of the log of a session, kept beside what actors did, so that
 * a recording shows the session as a living inspector does. It has no number among the records: older readers pass it
 * over as a kind that they do not know, and miss no record.
 */
import * as z from 'zod';
import { agentId, sessionId } from '../ids.ts';
import { placeEvent, readStoredEvent } from '../session/session-event.ts';
import type { SessionEvent } from '../session/session-event.ts';

export const SESSION_LINE = 'session';

const sessionLine = z.object({
  k: z.literal(SESSION_LINE),
  session: sessionId,
  agent: agentId,
  seq: z.int().positive(),
  /** As a store has it: names and versions of former times are brought up to date when it is read. */
  event: z.unknown(),
  /** Something was left out of its texts or lists. */
  cut: z.literal(true).optional(),
});

export interface SessionLine {
  readonly agentId: string;
  readonly event: SessionEvent;
  readonly isCut: boolean;
}

export function sessionLineOf({ agentId: agent, event, isCut }: SessionLine): Readonly<z.input<typeof sessionLine>> {
  const { sessionId: session, seq, ...stored } = event;
  return { k: SESSION_LINE, session, agent, seq, event: stored, ...(isCut ? { cut: true } : {}) };
}

/** The last of these lines where the logs were too long. Older readers count it as one that they could not read. */
export const FULL_LINE = { k: SESSION_LINE, ends: 'full' } as const;
const fullLine = z.object({ ends: z.literal(FULL_LINE.ends) });

/** @param stored fresh from JSON @returns 'full': no more follow; undefined: it is no such line, or damaged */
export function readSessionLine(stored: unknown): SessionLine | 'full' | undefined {
  if (fullLine.safeParse(stored).success) return FULL_LINE.ends;
  const line = sessionLine.safeParse(stored);
  const event = line.success ? readStoredEvent(line.data.event) : undefined;
  if (!line.success || event === undefined) return undefined;
  const { session, agent, seq, cut } = line.data;
  return { agentId: agent, event: placeEvent(event, session, seq), isCut: cut === true };
}
