/** What the session that a job works for hears of it: that it was accepted, and how it ended. */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import { MAX_SUMMARY_CHARACTERS } from '../../machines/session/limits.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { jobEndingText } from '../../machines/subagent/job-ending.ts';
import type { WorktreeHandoff } from '../../machines/subagent/worktree-findings.ts';
import { keepView } from '../session/event-store.ts';
import { appendAtHead } from '../session/ingress.ts';
import type { LineagePorts } from '../session/lineage.ts';
import { ParentBounds } from '../session/parent-bounds.ts';
import type { BoundsPorts } from '../session/parent-bounds.ts';
import type { SessionJournal } from '../session/session-journal.ts';
import type { Sessions } from '../session/sessions.ts';

export interface StartedJob {
  readonly jobId: string;
  /** The session that will do its work. */
  readonly sessionId: string;
  /** Any other text than the id of a session means that it works for none. */
  readonly parentSessionId: string;
  readonly agentType: string;
  readonly label: string;
  readonly prompt: string;
  readonly isolation?: 'none' | 'worktree' | undefined;
}

export interface EndedJob extends Pick<StartedJob, 'jobId' | 'sessionId' | 'parentSessionId' | 'agentType'> {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly output?: string | undefined;
  /** Where the whole of it lies, when it is long. */
  readonly outputPath?: string | undefined;
  readonly error?: Pick<ErrorRecord, 'code' | 'category' | 'message' | 'hint'> | undefined;
  readonly timeoutReason?: string | undefined;
  readonly worktree?: WorktreeHandoff | undefined;
  /** Whether its session was there before it. Default false. */
  readonly continues?: boolean | undefined;
}

/** Each is stored once for each job, however often it is asked for. */
export interface SubagentLog {
  /**
   * Before the job begins. @throws RuntimeError SESSION_NOT_FOUND, SESSION_TERMINATED when nothing can work for that
   * session
   */
  started(job: StartedJob): Promise<void>;
  /**
   * After nothing of it runs any more. The session made for one that did not complete is terminated, so that no process
   * goes on with it.
   */
  ended(job: EndedJob): Promise<void>;
}

export interface SubagentLogOptions extends LineagePorts, BoundsPorts {
  readonly sessions: Sessions;
}

const MAX_PROMPT_CHARACTERS = 120;

export function createSubagentLog(options: SubagentLogOptions): SubagentLog {
  return { started: (job) => logStart(job, options), ended: (job) => logEnd(job, options) };
}

async function logStart(job: StartedJob, options: SubagentLogOptions): Promise<void> {
  const { journals, store } = options;
  if (!isUuidV7(job.parentSessionId)) return;
  const journal = await journals.open(job.parentSessionId);
  const parent = await ParentBounds.of(journal.state, options);
  const draftsFor = (state: SessionState): SessionEventDraft[] => {
    if (state.status === 'terminated') throw refusalError(state.sessionId, 'subagent.started', terminated(state));
    const { parent: _parent, ...bounds } = parent.bounds(state, { kind: 'job' });
    return [{ type: 'subagent.started', data: { ...wordsOf(job), ...bounds } }];
  };
  await appendAtHead(journal, draftsFor, { idempotencyKey: keyOf('job-started', job) });
  await keepView(store, journal.state);
}

async function logEnd(job: EndedJob, options: SubagentLogOptions): Promise<void> {
  const { journals, store, sessions } = options;
  // A record that names no session has none to end. What was there before the job is not the job's to end.
  const hasSession = isUuidV7(job.sessionId);
  if (hasSession && job.status !== 'completed' && job.continues !== true)
    await unlessMissing(sessions.terminate(job.sessionId, { reason: jobEndingText(job) }));
  if (!isUuidV7(job.parentSessionId)) return;
  const parent = await unlessMissing(journals.open(job.parentSessionId));
  const child = hasSession ? await unlessMissing(journals.open(job.sessionId)) : undefined;
  if (parent === undefined) return;
  const draftsFor = ({ jobs }: SessionState): SessionEventDraft[] => {
    const open = jobs.find(({ jobId }) => jobId === job.jobId);
    return open === undefined
      ? []
      : [endOf({ ...job, sessionId: hasSession ? job.sessionId : open.childSessionId }, child)];
  };
  await appendAtHead(parent, draftsFor, { idempotencyKey: keyOf('job-ended', job) });
  await keepView(store, parent.state);
}

function wordsOf({
  jobId,
  sessionId,
  agentType,
  label,
  prompt,
  isolation,
}: StartedJob): Omit<Extract<SessionEventDraft, { type: 'subagent.started' }>['data'], 'restriction'> {
  return {
    jobId,
    childSessionId: sessionId,
    agentId: agentType,
    ...(label === agentType ? {} : { label: beginningOf(label, MAX_PROMPT_CHARACTERS) }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(prompt === '' ? {} : { prompt: beginningOf(prompt, MAX_PROMPT_CHARACTERS) }),
  };
}

function endOf(
  { jobId, sessionId, agentType, status, output, outputPath, error, timeoutReason, worktree }: EndedJob,
  child: SessionJournal | undefined,
): SessionEventDraft {
  const text = output ?? error?.message ?? status;
  return {
    type: 'subagent.ended',
    data: {
      jobId,
      childSessionId: sessionId,
      agentId: agentType,
      status,
      summary: beginningOf(text, MAX_SUMMARY_CHARACTERS),
      ...(outputPath === undefined ? {} : { outputPath }),
      ...(error === undefined
        ? {}
        : {
            error: {
              code: error.code,
              category: error.category,
              message: error.message,
              ...(error.hint === undefined ? {} : { hint: error.hint }),
            },
          }),
      ...(timeoutReason === undefined ? {} : { timeoutReason }),
      ...(worktree === undefined ? {} : { worktree }),
      ...(child === undefined ? {} : { used: child.state.used }),
    },
  };
}

/** Two homes may have a job of the same name, but no two have a session of the same id. */
function keyOf(what: string, { jobId, sessionId }: Pick<StartedJob, 'jobId' | 'sessionId'>): string {
  return `${OWN_KEYS}${what}:${jobId}:${sessionId}`;
}

async function unlessMissing<Value>(checking: Promise<Value>): Promise<Value | undefined> {
  try {
    return await checking;
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
    throw error;
  }
}
