/**
 * Logs for tests of retrieval: sessions of one agent as lists of what was said and done, behind the port that retrieval
 * reads.
 */
import type { SessionSource } from '../../src/actors/retrieval/retrieval-sources.ts';
import { foldSession } from '../../src/machines/session/session-fold.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';

export const AGENT = 'player';

export function sessionIdOf(n: number): string {
  return `0190f0c1-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** Sessions that can grow, shrink and go while somebody reads them. */
export class Logs implements SessionSource {
  readonly logs = new Map<string, SessionEvent[]>();
  /** How many events were read. */
  read = 0;
  #at = Date.parse('2026-01-01T00:00:00Z');
  #ids = 0;

  add(sessionId: string, type: string, data: object): SessionEvent {
    const log = this.logs.get(sessionId) ?? [];
    this.logs.set(sessionId, log);
    this.#at += 1_000;
    this.#ids += 1;
    // Tests make only events of the catalogue.
    const event = {
      id: `0190f0c1-0000-7000-9000-${this.#ids.toString(16).padStart(12, '0')}`,
      seq: log.length + 1,
      at: new Date(this.#at).toISOString(),
      sessionId,
      type,
      v: 1,
      data,
    } as SessionEvent;
    log.push(event);
    return event;
  }

  start(n: number, options: { readonly title?: string; readonly parent?: number } = {}): string {
    const sessionId = sessionIdOf(n);
    const parent = options.parent === undefined ? {} : { parent: { sessionId: sessionIdOf(options.parent), depth: 1 } };
    this.add(sessionId, 'session.created', {
      agentId: AGENT,
      ...(options.title === undefined ? {} : { title: options.title }),
      ...parent,
    });
    return sessionId;
  }

  say(sessionId: string, text: string): number {
    return this.add(sessionId, 'user.message', { text, delivery: 'queue' }).seq;
  }

  answer(sessionId: string, text: string): number {
    return this.add(sessionId, 'agent.message', { text, spanId: 's' }).seq;
  }

  call(
    sessionId: string,
    callId: string,
    {
      name,
      input,
      output,
      outcome = 'completed',
    }: { readonly name: string; readonly input: unknown; readonly output?: unknown; readonly outcome?: string },
  ): void {
    this.add(sessionId, 'agent.tool_use', { callId, name, input, spanId: 's' });
    if (output !== undefined) this.add(sessionId, 'agent.tool_result', { callId, name, outcome, output });
  }

  async list(): Promise<readonly SessionState[]> {
    return [...this.logs.keys()].map((sessionId) => this.#state(sessionId));
  }

  async get(sessionId: string): Promise<SessionState> {
    return this.#state(sessionId);
  }

  async *events(
    sessionId: string,
    { from, limit }: { readonly from: number; readonly limit: number },
  ): AsyncGenerator<SessionEvent> {
    for (const event of (this.logs.get(sessionId) ?? []).slice(from - 1, from - 1 + limit)) {
      this.read += 1;
      yield event;
    }
  }

  #state(sessionId: string): SessionState {
    return (this.logs.get(sessionId) ?? []).reduce<SessionState>(
      (state, event) => foldSession(state, event),
      initialSessionState({ sessionId, agentId: AGENT }),
    );
  }
}
