/** What sessions are called, and which of them are searched for. */
import type { ShownProcess, ShownSummary } from '../../../actors/inspection/shown-answers.ts';
import { duration } from '../model/words.ts';

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
  { id: 'need', text: 'Need you', fits: ({ need }) => need === 'answer' || need === 'attention' },
  { id: 'bad', text: 'Failing', fits: ({ words: { status } }) => status === 'error' },
  { id: 'left', text: 'Left with a failure', fits: ({ need }) => need === 'left' },
  { id: 'run', text: 'Run', fits: ({ words: { status } }) => status === 'running' },
  { id: 'rest', text: 'Rest', fits: ({ need, words: { status } }) => need === undefined && status !== 'running' },
] as const satisfies readonly {
  readonly id: string;
  readonly text: string;
  readonly fits: (session: ShownSummary) => boolean;
}[];

export type SessionFilter = (typeof SESSION_FILTERS)[number]['id'];

/** Shorter silences are nothing. */
const SILENT_MS = 20_000;

/**
 * For how long a session that seems stuck, or a call of one that runs, has told nothing, in milliseconds; undefined for
 * any other.
 */
export function silentMs(
  { isStuck, updatedAt, lastActivityAt }: Pick<ShownSummary, 'isStuck' | 'updatedAt' | 'lastActivityAt'>,
  atMs: number,
): number | undefined {
  if (isStuck !== true && lastActivityAt === undefined) return undefined;
  const silent = Math.max(0, atMs - Date.parse(lastActivityAt ?? updatedAt ?? ''));
  return isStuck === true || silent >= SILENT_MS ? silent : undefined;
}

/** From the start, so that a command that hangs is seen before it is silent for long. */
export function quietText(
  atMs: number,
  { lastActivityAt, endsAtMs }: { readonly lastActivityAt: string; readonly endsAtMs: number | undefined },
): string {
  const limit = endsAtMs === undefined ? '' : `, ${duration(Math.max(0, endsAtMs - atMs))} left of its limit`;
  return `silent ${duration(Math.max(0, atMs - Date.parse(lastActivityAt)))}${limit}`;
}

/**
 * When the first of the commands that run reaches its limit, in milliseconds since the epoch. What a process left that
 * died is held to none.
 */
export function endOfLimit(
  processes: readonly Pick<ShownProcess, 'state' | 'host' | 'startedAt' | 'limitMs'>[],
): number | undefined {
  const ends = processes.flatMap(({ state, host, startedAt, limitMs }) =>
    state === 'running' && host !== 'dead' && startedAt !== undefined && limitMs !== undefined
      ? [Date.parse(startedAt) + limitMs]
      : [],
  );
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** After “silent for …”: how long what runs has taken before. */
export function usualText({ usualMs }: Pick<ShownSummary, 'usualMs'>): string {
  return usualMs === undefined ? '' : `, usually at most ${duration(usualMs)}`;
}

/** What is opened where no session needs a person: the one that runs and has been silent longest, else the newest. */
export function firstToOpen(sessions: readonly ShownSummary[]): ShownSummary | undefined {
  const needing = sessions.find(({ need }) => need !== undefined);
  if (needing !== undefined) return needing;
  const toldAt = ({ lastActivityAt, updatedAt }: ShownSummary): number =>
    Date.parse(lastActivityAt ?? updatedAt ?? '') || 0;
  const running = sessions.filter(({ words: { status } }) => status === 'running');
  return running.toSorted((one, other) => toldAt(one) - toldAt(other))[0] ?? sessions[0];
}

/** Those whose title, agent, id or status holds each of the words, upper and lower case alike. */
export function matching(sessions: readonly ShownSummary[], text: string): readonly ShownSummary[] {
  const words = text.toLowerCase().split(/\s+/);
  return sessions.filter(({ title = '', agentId, sessionId, words: { text: status } }) => {
    const told = `${title} ${agentId} ${sessionId} ${status}`.toLowerCase();
    return words.every((word) => told.includes(word));
  });
}
