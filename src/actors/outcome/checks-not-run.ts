/** Whether the last evaluation says nothing because a check could not be run, such as on a full disk, and how often that was so already. */
import type { SessionState } from '../../machines/session/session-state.ts';
import { readHistory } from './outcome-history.ts';
import type { EventReader } from './read-work.ts';

/** Evaluations in a row in which a check could not be run. After as many it is for people to see why. */
const MAX_CHECKS_NOT_RUN = 3;

type Evaluated = Pick<SessionState, 'sessionId' | 'head' | 'outcome' | 'evaluation' | 'changedAtSeq'>;

/** False once it was so MAX_CHECKS_NOT_RUN times and nothing was changed in between. */
export async function isWorthAnotherCheck(reader: EventReader, state: Evaluated): Promise<boolean> {
  const { outcome, evaluation, changedAtSeq = 0 } = state;
  if (evaluation?.verdict !== 'uncertain') return false;
  const since = Math.max(outcome?.seq ?? 0, changedAtSeq);
  const { entries } = await readHistory(reader, state, MAX_CHECKS_NOT_RUN);
  const recent = entries.filter(({ throughSeq }) => throughSeq >= since).map(({ seq }) => seq);
  const notRun = await Promise.all(recent.map((seq) => hasCheckNotRun(reader, state.sessionId, seq)));
  return notRun.at(-1) === true && (notRun.length < MAX_CHECKS_NOT_RUN || notRun.includes(false));
}

/** One that was run speaks for or against. */
async function hasCheckNotRun(reader: EventReader, sessionId: string, seq: number): Promise<boolean> {
  const [event] = await reader.read(sessionId, { from: seq, limit: 1 });
  return event?.type === 'outcome.evaluated' && event.data.evidence.some(({ kind, speaks }) => kind === 'check' && speaks === 'neither');
}
