/** What sessions are called, and which of them are searched for. */
import type { ShownSummary } from '../../../actors/inspection/shown-answers.ts';

/** What people call it. */
export function nameOf({ title, agentId, sessionId }: Pick<ShownSummary, 'title' | 'agentId' | 'sessionId'>): string {
  return title ?? (agentId === '' ? sessionId : agentId);
}

/** The last characters tell sessions apart: ids begin with the time. */
export function shortId(id: string): string {
  return id.slice(-6);
}

export const SESSION_FILTERS = [
  { id: 'all', text: 'All', fits: () => true },
  { id: 'need', text: 'Need you', fits: ({ need }) => need !== undefined },
  { id: 'bad', text: 'Failing', fits: ({ words: { status } }) => status === 'error' },
  { id: 'run', text: 'Run', fits: ({ words: { status } }) => status === 'running' },
  { id: 'rest', text: 'Rest', fits: ({ need, words: { status } }) => need === undefined && status !== 'running' },
] as const satisfies readonly {
  readonly id: string;
  readonly text: string;
  readonly fits: (session: ShownSummary) => boolean;
}[];

export type SessionFilter = (typeof SESSION_FILTERS)[number]['id'];

/** For how long a session that seems stuck has told nothing, in milliseconds; undefined for any other. */
export function silentMs(
  { isStuck, updatedAt }: Pick<ShownSummary, 'isStuck' | 'updatedAt'>,
  atMs: number,
): number | undefined {
  return isStuck === true ? Math.max(0, atMs - Date.parse(updatedAt ?? '')) : undefined;
}

/** Those whose title, agent, id or status holds each of the words, upper and lower case alike. */
export function matching(sessions: readonly ShownSummary[], text: string): readonly ShownSummary[] {
  const words = text.toLowerCase().split(/\s+/);
  return sessions.filter(({ title = '', agentId, sessionId, words: { text: status } }) => {
    const told = `${title} ${agentId} ${sessionId} ${status}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}
