/** What artifacts need of a session's log: the end of it, shortened, taken on event by event. */
import type { SessionEvent } from '../session/session-event.ts';
import { feedLine } from './event-feed.ts';
import type { FeedLine } from './event-feed.ts';
import { commandOf, outputOf } from './shell-artifacts.ts';
import type { ShellTail } from './shell-artifacts.ts';
import { withTrace } from './trace-list.ts';
import type { Trace } from './trace-list.ts';

/** Events that the feed shows, and commands. */
export const MAX_FEED_EVENTS = 200;
const MAX_RECENT_COMMANDS = 50;

export interface LogTail extends ShellTail {
  /** The last event that is taken in; 0 before the first. */
  readonly throughSeq: number;
  readonly feed: readonly FeedLine[];
  readonly traces: readonly Trace[];
}

export const EMPTY_TAIL: LogTail = { throughSeq: 0, feed: [], traces: [], commands: [] };

/** @param events in order; those that are taken in already are passed over */
export function extendTail(tail: LogTail, events: readonly SessionEvent[]): LogTail {
  const fresh = events.filter(({ seq }) => seq > tail.throughSeq);
  const last = fresh.at(-1);
  if (last === undefined) return tail;
  return {
    throughSeq: last.seq,
    feed: [...tail.feed, ...fresh.slice(-MAX_FEED_EVENTS).map(feedLine)].slice(-MAX_FEED_EVENTS),
    traces: fresh.reduce(withTrace, tail.traces),
    commands: fresh.reduce(commandOf, tail.commands).slice(-MAX_RECENT_COMMANDS),
    lastOutput: fresh.reduce(outputOf, tail.lastOutput),
  };
}
