/**
 * Folds the events that wakes append into operations on spans: one for each wake, with its model steps and tool calls
 * in it, and an attempt for each candidate of a step that took several. It holds what is open, and no more than a fixed
 * number of that.
 */
import type { SessionEvent, SessionEventOf } from '../session/session-event.ts';
import { SessionSpans } from './session-spans.ts';
import { SpanContents } from './span-contents.ts';
import type { SpanOperation } from './span-operation.ts';
import { wakeAttributes } from './span-words.ts';

/** Sessions with an open wake, at once. The one that was quiet for the longest is given up for another. */
export const MAX_TRACKED_SESSIONS = 10_000;

export interface SpanFoldOptions {
  /**
   * Characters of what was said and given that a span tells, for each of its attributes. Default 0: it tells nothing of
   * it.
   */
  readonly contentCharacters?: number | undefined;
}

export class SpanFold {
  /** By session, the one that was quiet for the longest first. */
  readonly #sessions = new Map<string, SessionSpans>();
  readonly #contents: SpanContents;

  constructor({ contentCharacters = 0 }: SpanFoldOptions = {}) {
    this.#contents = new SpanContents(contentCharacters);
  }

  /** @param agentId the agent of the session, where it is known */
  take(event: SessionEvent, agentId?: string): SpanOperation[] {
    if (event.type === 'wake.started') return this.#begin(event, agentId);
    if (event.type === 'wake.ended') return this.#end(event, agentId);
    if (!isOfWake(event)) return [];
    const spans = this.#sessions.get(event.sessionId);
    if (spans === undefined)
      return this.#track(
        event,
        new SessionSpans({ sessionId: event.sessionId, agentId, contents: this.#contents }, undefined),
      );
    this.#touch(event.sessionId, spans);
    return spans.take(event);
  }

  /** Ends everything that is open. */
  close(at: string): SpanOperation[] {
    const operations = [...this.#sessions.values()].flatMap((spans) => spans.end({ at }, 'unfinished'));
    this.#sessions.clear();
    return operations;
  }

  #begin(event: SessionEventOf<'wake.started'>, agentId: string | undefined): SpanOperation[] {
    const { sessionId, at } = event;
    // No event says how the one before ended: its process did not die, but it lost the right to write.
    const before = this.#sessions.get(sessionId)?.end({ at }, 'superseded') ?? [];
    this.#sessions.delete(sessionId);
    const spans = new SessionSpans({ sessionId, agentId, contents: this.#contents }, event.data.wakeId);
    const evicted = this.#makeRoom(at);
    this.#sessions.set(sessionId, spans);
    return [...before, ...evicted, ...spans.begin(event)];
  }

  #end(event: SessionEventOf<'wake.ended'>, agentId: string | undefined): SpanOperation[] {
    const { sessionId, at, data } = event;
    const spans = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    const isOwn = spans?.wakeId === data.wakeId;
    const ended = spans?.end(isOwn ? { at, data } : { at }, isOwn ? undefined : 'superseded') ?? [];
    return isOwn || data.outcome !== 'lost' ? ended : [...ended, ...lost(event, agentId)];
  }

  /** The first event of a wake whose beginning was not seen. */
  #track(event: SessionEvent, spans: SessionSpans): SpanOperation[] {
    const operations = spans.take(event);
    // A call that ends outside of a wake leaves nothing open.
    if (event.type === 'agent.tool_result' || event.type === 'span.completed') return operations;
    const evicted = this.#makeRoom(event.at);
    this.#sessions.set(event.sessionId, spans);
    return [...evicted, ...operations];
  }

  #touch(sessionId: string, spans: SessionSpans): void {
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, spans);
  }

  #makeRoom(at: string): SpanOperation[] {
    const [oldest] = this.#sessions;
    if (this.#sessions.size < MAX_TRACKED_SESSIONS || oldest === undefined) return [];
    this.#sessions.delete(oldest[0]);
    return oldest[1].end({ at }, 'untracked');
  }
}

/**
 * A wake whose process died has not told of its span: the one that says so in its place does, as a span without a
 * length.
 */
function lost(
  { sessionId, at, data: { wakeId, outcome } }: SessionEventOf<'wake.ended'>,
  agentId: string | undefined,
): SpanOperation[] {
  const key = `wake ${sessionId} ${wakeId}`;
  const attributes = { ...wakeAttributes(sessionId, agentId, { wakeId }), 'wakechart.wake.outcome': outcome };
  const name = agentId === undefined ? 'invoke_agent' : `invoke_agent ${agentId}`;
  return [
    { do: 'start', kind: 'wake', key, name, attributes, at },
    { do: 'end', key, attributes: { 'error.type': 'lost' }, status: { code: 'error' }, at },
  ];
}

const OF_WAKE: ReadonlySet<string> = new Set<SessionEvent['type']>([
  'span.started',
  'span.completed',
  'run.attempt_failed',
  'run.candidate_selected',
  'run.waiting',
  'agent.message',
  'agent.tool_use',
  'agent.tool_started',
  'agent.tool_requeued',
  'agent.tool_result',
]);

function isOfWake({ type }: SessionEvent): boolean {
  return OF_WAKE.has(type);
}
