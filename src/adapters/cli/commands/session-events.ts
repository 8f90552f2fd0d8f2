/** `wakechart session events`: what is in a session's log, and with --follow what comes. */
import type { SessionEvent } from '../../../machines/session/session-event.ts';
import type { CommandContext } from '../context.ts';
import { gistOf } from '../event-text.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import type { Output } from '../output.ts';
import { withSessions } from '../stores.ts';
import { localTime } from '../text.ts';
import { checkedSessionId } from './session.ts';

export interface EventsOptions {
  readonly session: string;
  /** Sequence number of the last event that is known already. */
  readonly after: number;
  readonly limit: number | undefined;
  readonly follow: boolean;
}

export async function showEvents(context: CommandContext, { session, after, limit, follow }: EventsOptions): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions }) => {
    const events = sessions.events(checkedSessionId(session), { from: after + 1, follow, ...(limit === undefined ? {} : { limit }) });
    out.onClosed(() => events.end());
    for await (const event of events) await (json ? out.record(event) : out.line(eventLine(event, out)));
  });
  return EXIT_SUCCESS;
}

/** Wide enough for all but the longest names of events. */
const TYPE_WIDTH = 22;
const SEQ_WIDTH = 5;

function eventLine(event: SessionEvent, { styles, columns }: Output): string {
  const seq = String(event.seq).padStart(SEQ_WIDTH);
  const time = localTime(event.at);
  const type = event.type.padEnd(TYPE_WIDTH);
  const room = columns - seq.length - time.length - type.length - 6;
  return `${seq}  ${styles.dim(time)}  ${styles.cyan(type)}  ${gistOf(event, room)}`.trimEnd();
}
