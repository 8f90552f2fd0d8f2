/** A generated history as logs of sessions, learnings and memory, behind the ports that retrieval reads from. */
import type { SessionEvent } from 'wakechart';
import { foldSession, initialSessionState } from 'wakechart/machines';
import type { HistorySession, HistoryTurn } from './history.ts';
import type { Labelled } from './labelled.ts';
import type { RetrievalSources } from './parts.ts';

export const AGENT_ID = 'bench';
export const NOW_MS = Date.parse('2026-03-01T00:00:00Z');

const DAY_MS = 86_400_000;
const HISTORY_DAYS = 120;

/** A piece of the history as any search would see it: a message, a tool call, a learning, a part of the memory. */
export interface CorpusItem {
  /** As candidates name it. */
  readonly id: string;
  readonly text: string;
  readonly label?: number | undefined;
}

export interface Corpus {
  readonly items: readonly CorpusItem[];
  readonly sources: RetrievalSources;
  readonly messages: number;
}

export function corpusOf(history: readonly HistorySession[], labels: readonly Labelled[]): Corpus {
  const items: CorpusItem[] = [];
  const logs = new Map<string, readonly SessionEvent[]>();
  for (const [index, session] of history.entries()) {
    const log = new Log(idOf(index), NOW_MS - HISTORY_DAYS * DAY_MS * (1 - index / history.length));
    log.append('session.created', { agentId: AGENT_ID, title: session.title });
    for (const turn of session.turns) items.push(...log.turn(turn));
    logs.set(log.sessionId, log.events);
  }
  const shared = labels
    .map((each, label) => ({ ...each, label }))
    .filter(({ kind }) => kind === 'learning' || kind === 'memory');
  for (const { kind, label, title = '', detail = '' } of shared)
    items.push({ id: `${kind}:${label}`, text: `${title} ${detail}`, label });
  return { items, messages: items.length, sources: sourcesOf(logs, shared) };
}

function sourcesOf(
  logs: ReadonlyMap<string, readonly SessionEvent[]>,
  shared: readonly (Labelled & { readonly label: number })[],
): RetrievalSources {
  const states = [...logs].map(([sessionId, events]) =>
    events.reduce<ReturnType<typeof foldSession>>(
      (state, event) => foldSession(state, event),
      initialSessionState({ sessionId, agentId: AGENT_ID }),
    ),
  );
  return {
    sessions: {
      list: async () => states,
      get: async (sessionId) =>
        states.find((state) => state.sessionId === sessionId) ?? initialSessionState({ sessionId, agentId: AGENT_ID }),
      async *events(sessionId, { from, limit }) {
        yield* (logs.get(sessionId) ?? []).slice(from - 1, from - 1 + limit);
      },
    },
    learnings: {
      learnings: async () =>
        shared
          .filter(({ kind }) => kind === 'learning')
          .map(({ label, title = '', detail = '' }) => ({ learningId: String(label), kind: 'lesson', title, detail })),
    },
    memory: {
      memoryEntries: async () =>
        shared
          .filter(({ kind }) => kind === 'memory')
          .map(({ label, title = '', detail = '' }) => ({ entryId: String(label), heading: title, text: detail })),
    },
  };
}

class Log {
  readonly events: SessionEvent[] = [];
  readonly sessionId: string;
  #atMs: number;

  constructor(sessionId: string, startMs: number) {
    this.sessionId = sessionId;
    this.#atMs = startMs;
  }

  append(type: string, data: unknown): number {
    const seq = this.events.length + 1;
    this.#atMs += 60_000;
    const event = {
      id: `${this.sessionId.slice(0, 24)}${seq.toString(16).padStart(12, '0')}`,
      seq,
      at: new Date(this.#atMs).toISOString(),
      sessionId: this.sessionId,
      type,
      v: 1,
      data,
    };
    // The bench makes only events of the catalogue.
    this.events.push(event as SessionEvent);
    return seq;
  }

  turn({ person, agent, tool, label }: HistoryTurn): CorpusItem[] {
    const named = label === undefined ? {} : { label };
    if (tool !== undefined) {
      const callId = `c${this.events.length}`;
      const seq = this.append('agent.tool_use', { callId, name: tool.name, input: tool.input, spanId: 's' });
      this.append('agent.tool_result', {
        callId,
        name: tool.name,
        outcome: tool.failed === true ? 'failed' : 'completed',
        output: tool.output,
      });
      return [
        {
          id: `${this.sessionId}:${seq}:${callId}`,
          text: `${tool.name} ${JSON.stringify(tool.input)} ${JSON.stringify(tool.output)}`,
          ...named,
        },
      ];
    }
    const text = person ?? agent ?? '';
    const seq =
      person === undefined
        ? this.append('agent.message', { text, spanId: 's' })
        : this.append('user.message', { text, delivery: 'queue' });
    return [{ id: `${this.sessionId}:${seq}`, text, ...named }];
  }
}

/** The n-th id: a UUIDv7, greater than every one before it. */
function idOf(n: number): string {
  const digits = (0x0190_0000_0000 + n).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}
