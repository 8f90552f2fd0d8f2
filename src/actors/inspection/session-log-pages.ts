/** Events of a session's log as they are shown: a page of them, redacted and bounded, as many as fit. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { Sessions } from '../session/sessions.ts';
import type { InspectedText } from './inspected-text.ts';
import { shownData, wholeData } from './shown-data.ts';
import type { ShownLimits } from './shown-data.ts';

/** Of one event, as much as a message of a person may be long. */
const EVENT_LIMITS: ShownLimits = { characters: 300_000, text: 256_000, entries: 1_000, depth: 30 };
/** Of all events of a page together; a reader that wants more asks from where it ends. */
const PAGE_CHARACTERS = 4 * 1_048_576;

export interface EventsPage {
  readonly from: number;
  readonly limit: number;
  readonly text: InspectedText;
  readonly onProblem: (error: unknown) => void;
}

/**
 * At most `limit` events from number `from` on, fewer where they are long or the log is damaged. @throws what the store
 * throws before the first of them
 */
export async function eventsFrom(
  sessions: Pick<Sessions, 'events'>,
  sessionId: string,
  { from, limit, text, onProblem }: EventsPage,
): Promise<readonly SessionEvent[]> {
  const page: SessionEvent[] = [];
  let left = PAGE_CHARACTERS;
  try {
    for await (const event of sessions.events(sessionId, { from, limit })) {
      const shown = { ...event, data: shownData(event.data, text, EVENT_LIMITS).value } as SessionEvent;
      left -= JSON.stringify(shown).length;
      if (left < 0 && page.length > 0) break;
      page.push(shown);
    }
  } catch (error) {
    if (page.length === 0) throw error;
    onProblem(error);
  }
  return page;
}

/** The event without secrets. */
export function redactedEvent(event: SessionEvent, text: InspectedText): SessionEvent {
  return { ...event, data: wholeData(event.data, text) } as SessionEvent;
}
