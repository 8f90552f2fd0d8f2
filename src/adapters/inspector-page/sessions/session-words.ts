/** What sessions are called, and which of them are looked for. */
import type { ShownSummary } from '../../../actors/inspection/shown-answers.ts';

/** What people call it. */
export function nameOf({ title, agentId, sessionId }: Pick<ShownSummary, 'title' | 'agentId' | 'sessionId'>): string {
  return title ?? (agentId === '' ? sessionId : agentId);
}

/** The last characters tell sessions apart: ids begin with the time. */
export function shortId(id: string): string {
  return id.slice(-6);
}

/** Those whose title, agent, id or status holds each of the words, upper and lower case alike. */
export function matching(sessions: readonly ShownSummary[], text: string): readonly ShownSummary[] {
  const words = text.toLowerCase().split(/\s+/);
  return sessions.filter(({ title = '', agentId, sessionId, words: { text: status } }) => {
    const told = `${title} ${agentId} ${sessionId} ${status}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}
