/**
 * Runs the wakes of sessions that are to have a process of their own: each is a task whose runner forks a worker, which
 * takes the lease of the session and writes its log as any other process would.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorCategory } from '../../machines/errors.ts';
import { MAX_FAILURES_IN_A_ROW } from '../../machines/session/limits.ts';
import { SESSION_KEY, WAKE_ONLY_KEY } from '../../machines/subagent/subagent-request.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { readWakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { WAKE_FAILED } from '../../machines/wake/wake-commit.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { LineagePorts } from '../session/lineage.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import { failSubflow } from '../session/subflow-session.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { WakeElsewhere, WakeOptions } from '../wake/wake-ports.ts';

export interface WakesElsewhereOptions extends LineagePorts {
  /** Its runner for agents starts the processes. */
  readonly tasks: BackgroundTaskManager;
  readonly directories: Pick<SessionDirectories, 'workspaceDirectory'>;
  readonly humans: 'reachable' | 'none';
}

export function createWakesElsewhere(options: WakesElsewhereOptions): WakeElsewhere {
  return {
    async wake(session, wakeOptions) {
      for (let death = 1; ; death += 1) {
        try {
          return await wakeOnce(session, wakeOptions, options);
        } catch (error) {
          if (wakeOptions.signal?.aborted === true || !RuntimeError.is(error)) throw error;
          const journal = await options.journals.open(session.sessionId);
          // The next wake closes what the dead one left open; one whose wakes keep dying is parked by the last of them.
          const goesOn = error.category === 'crash' && journal.state.openWake !== undefined;
          if (goesOn && death <= MAX_FAILURES_IN_A_ROW) continue;
          if (isUnopened(journal.state, session) && UNOPENED.has(error.category))
            await failSubflow(journal, beginningOf(`${WAKE_FAILED}${error.message}`, MAX_REASON_CHARACTERS), options);
          throw error;
        }
      }
    },
  };
}

const MAX_REASON_CHARACTERS = 1_000;

/** How a process fails that no wake begins in, as it will the next time: no program, no config, no end of loading. */
const UNOPENED: ReadonlySet<ErrorCategory> = new Set(['process', 'crash', 'timeout', 'validation', 'not_found']);

/** Whether a call waits for a session that the process had nothing to say of. */
function isUnopened({ epoch, parent, status }: SessionState, before: SessionState): boolean {
  return parent?.callId !== undefined && status !== 'terminated' && epoch === before.epoch;
}

async function wakeOnce(
  session: SessionState,
  { signal, force, humans }: WakeOptions,
  { tasks, directories, humans: usual }: WakesElsewhereOptions,
): Promise<WakeOutcome> {
  const { sessionId, agentId } = session;
  const task = await tasks.spawn({
    kind: 'agent',
    agentType: agentId,
    label: agentId,
    prompt: '',
    cwd: await directories.workspaceDirectory(placeOfSession(session)),
    parentSessionId: session.parent?.sessionId ?? sessionId,
    permissionPolicy: (humans ?? usual) === 'none' ? 'deny' : 'prompt',
    metadata: { [SESSION_KEY]: sessionId, [WAKE_ONLY_KEY]: true },
  });
  const stop = (): void => void tasks.cancel(task.id, messageOf((signal ?? force)?.reason)).catch(() => undefined);
  signal?.addEventListener('abort', stop, { once: true });
  force?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true || force?.aborted === true) stop();
  try {
    const { metadata } = await tasks.wait(task.id);
    return outcomeOf(metadata?.['outcome'], sessionId);
  } finally {
    signal?.removeEventListener('abort', stop);
    force?.removeEventListener('abort', stop);
    await tasks.close(task.id).catch(() => undefined);
  }
}

function outcomeOf(value: unknown, sessionId: string): WakeOutcome {
  const outcome = readWakeOutcome(value);
  if (outcome !== undefined) return outcome;
  throw new RuntimeError(
    'WAKE_OUTCOME_UNREADABLE',
    `expected the process of session ${sessionId} to say how its wake ended, received ${JSON.stringify(value)?.slice(0, 200)}`,
    {
      category: 'runner',
      hint: `What happened is in the log: wakechart session events --session ${sessionId}`,
    },
  );
}
