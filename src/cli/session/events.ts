/** `wakechart session events`: what is in a session's log, and with --follow what comes. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { WordChannel } from '../../actors/words/word-channel.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { gistOf } from './event-text.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import type { Output } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { withSessions } from '../open/stores.ts';
import { localTime } from '../terminal/text.ts';
import { TranscriptView } from './transcript-view.ts';
import { checkedSessionId } from './session.ts';

export interface EventsOptions {
  readonly session: string;
  /** Sequence number of the last event that is known already. */
  readonly after: number;
  readonly limit: number | undefined;
  /** Begins so many events before the newest. */
  readonly last: number | undefined;
  readonly follow: boolean;
}

export async function showEvents(
  context: CommandContext,
  { session, after, limit, last, follow }: EventsOptions,
): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions, words }) => {
    const id = checkedSessionId(session);
    const from = last === undefined ? after + 1 : Math.max(1, (await sessions.status(id)).head - last + 1);
    const events = sessions.events(id, { from, follow, ...(limit === undefined ? {} : { limit }) });
    out.onClosed(() => events.end());
    if (follow && !json && out.isTerminal)
      return followTranscript(context, await sessions.status(id), { events, words });
    for await (const event of events) await (json ? out.record(event) : out.line(eventLine(event, out)));
  });
  return EXIT_SUCCESS;
}

interface Followed {
  readonly events: AsyncIterable<SessionEvent>;
  readonly words: WordChannel | undefined;
}

/** For people who watch: what is said, while it is said, and done, and how to answer what is asked. */
async function followTranscript(
  context: CommandContext,
  { sessionId, agentId }: SessionState,
  { events, words }: Followed,
): Promise<void> {
  const view = new TranscriptView({
    out: context.out,
    agentId,
    commandFor: (...given) => nextCommand(context, ...given),
  });
  const progress = new Progress(context.err);
  const link = words?.join(() => () => undefined);
  const leave = link?.follow(sessionId, (word) => progress.hearWord(word, `${agentId} is at work`));
  try {
    for await (const event of events) {
      progress.stop();
      await view.show(event);
    }
  } finally {
    leave?.();
    progress.stop();
    await link?.close();
  }
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
