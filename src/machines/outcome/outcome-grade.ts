/** How far a session has come with its outcome, told from its state: the first line of the table that applies. */
import type { OutcomeGrade } from '../session/improvement-events.ts';
import { isUnfinished } from '../session/session-activations.ts';
import type { SessionState } from '../session/session-state.ts';
import type { WorkRecord } from './work-record.ts';

export interface Grade {
  readonly grade: OutcomeGrade;
  /** One sentence for people. */
  readonly because: string;
}

export interface Graded {
  readonly state: SessionState;
  readonly record: Pick<WorkRecord, 'calls'>;
  /** The call of the wake that asks: it and its wake are no work that is open. */
  readonly askingCallId?: string | undefined;
  /** What still runs in its open shells, in words. */
  readonly leftRunning?: string | undefined;
}

type Row = readonly [grade: OutcomeGrade, because: (graded: Graded) => string | undefined];

const ROWS: readonly Row[] = [
  [
    'missing_outcome',
    ({ state }) => (state.outcome === undefined ? 'No outcome is defined for the session.' : undefined),
  ],
  [
    'blocked',
    ({ state, askingCallId }) => blockOf(state) ?? (askingCallId === undefined ? failureOf(state) : undefined),
  ],
  [
    'in_progress',
    (graded) =>
      graded.askingCallId === undefined ? workOf(graded.state) : workBeside(graded.state, graded.askingCallId),
  ],
  [
    'in_progress',
    ({ leftRunning }) => (leftRunning === undefined ? undefined : `Something still runs: ${leftRunning}.`),
  ],
  ['sleeping', (graded) => planOf(graded)],
  [
    'in_progress',
    ({ record }) =>
      [...record.calls.values()].some(({ result, name }) => result !== undefined && !name.startsWith('outcome_'))
        ? undefined
        : 'Nothing has been done since the outcome was defined.',
  ],
];

export function gradeOf(graded: Graded): Grade {
  for (const [grade, becauseOf] of ROWS) {
    const because = becauseOf(graded);
    if (because !== undefined) return { grade, because };
  }
  return { grade: 'done_candidate', because: 'The session rests, nothing is open, and its log shows what was done.' };
}

function blockOf({ status, parked, pendingActions, summary }: SessionState): string | undefined {
  if (status === 'terminated') return `The session was terminated${summary === undefined ? '' : `: ${summary}`}.`;
  if (parked !== undefined) return `The session is parked: ${parked.reason}`;
  const [action] = pendingActions;
  if (action !== undefined)
    return `The session waits for an answer: ${action.kind} (${action.toolName}), request ${action.requestId}.`;
  return undefined;
}

function failureOf({ failuresInARow, lastWake }: SessionState): string | undefined {
  if (failuresInARow === 0) return undefined;
  return `${failuresInARow === 1 ? 'The last wake' : `The last ${failuresInARow} wakes`} failed${lastWake?.error === undefined ? '' : `: ${lastWake.error.message}`}.`;
}

function workOf(state: SessionState): string | undefined {
  const { openWake, status, pending, jobs } = state;
  if (openWake !== undefined || status === 'running')
    return 'A wake of the session runs, or has died and was not followed by another.';
  if (status === 'rescheduling') return 'The session goes on by itself.';
  if (pending.length > 0) return `${pending.length} of what came in was not read yet.`;
  if (isUnfinished(state)) return 'A turn was left before its end.';
  return openJobs(jobs.length);
}

function workBeside({ pending, openToolCalls, jobs }: SessionState, askingCallId: string): string | undefined {
  if (pending.length > 0) return `${pending.length} of what came in was not read yet.`;
  const others = openToolCalls.filter(({ callId }) => callId !== askingCallId);
  if (others.length > 0)
    return `Other calls are open: ${others
      .slice(0, 5)
      .map(({ name }) => name)
      .join(', ')}. Evaluate when they have ended, in a step of its own.`;
  return openJobs(jobs.length);
}

function openJobs(count: number): string | undefined {
  return count === 0 ? undefined : `${count} subagent ${count === 1 ? 'job has' : 'jobs have'} not ended.`;
}

/** The wakes that the open one was due for are as good as done. */
function planOf({ state: { queuedWakes, openWake } }: Graded): string | undefined {
  const left = queuedWakes.filter(({ queuedWakeId }) => openWake?.queuedWakeIds.includes(queuedWakeId) !== true);
  const [next] = left.toSorted((one, other) => (one.dueAt < other.dueAt ? -1 : 1));
  return next === undefined ? undefined : `The session has planned to go on at ${next.dueAt}: ${next.reason}`;
}
