/**
 * `wakechart wake`: one wake of a session, told as it happens. A person at a terminal is asked what it waits for, and
 * it goes on.
 */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import { nextCommand, textAsTyped } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS, hintText } from '../failure.ts';
import { checkInspectionWords } from '../inspect/words.ts';
import type { InspectionWords } from '../inspect/words.ts';
import { openInspection } from '../inspect/inspection.ts';
import { LineInput } from '../terminal/line-input.ts';
import { withRuntime } from '../open/runtime.ts';
import { Progress } from '../terminal/progress.ts';
import { withSessions } from '../open/stores.ts';
import { localTime, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';
import { Waking } from './waking.ts';
import { checkedSessionId } from '../session/session.ts';

export interface WakeCommandOptions {
  readonly session: string;
  /** Whether a person can be asked. */
  readonly human: boolean;
  readonly inspection: InspectionWords;
}

export async function wakeSession(
  context: CommandContext,
  { session, human, inspection: words }: WakeCommandOptions,
): Promise<number> {
  checkInspectionWords(words);
  // Before anything is made or started for it.
  const { sessionId, agentId } = await withSessions(context, ({ sessions }) =>
    sessions.status(checkedSessionId(session)),
  );
  return withRuntime(
    context,
    async (runtime) => {
      const inspection = await openInspection(context, {
        words,
        inspected: runtime,
        title: 'wakechart wake',
        sessionId,
        next: nextCommand(context, 'wake', '--session', sessionId),
      });
      return inspection.around(() => wakeTold(context, { runtime, sessionId, agentId, human }));
    },
    { humans: human ? 'reachable' : 'none' },
  );
}

interface ToldWake {
  readonly runtime: NodeRuntime;
  readonly sessionId: string;
  readonly agentId: string;
  readonly human: boolean;
}

async function wakeTold(context: CommandContext, { runtime, sessionId, agentId, human }: ToldWake): Promise<number> {
  const { err, json } = context;
  const progress = new Progress(err);
  const asks = human && !json && err.isTerminal && process.stdin.isTTY;
  const waking = new Waking({ context, runtime, sessionId, agentId, progress, isAnsweredHere: asks });
  try {
    const outcome = await waking.untilItRests(asks ? new LineInput(process.stdin) : undefined);
    progress.stop();
    if (json) await context.out.record({ outcome });
    if (EXIT_CODES[outcome.outcome] !== EXIT_SUCCESS) await tellFailure(context, outcome);
    else if (!json) await tellSuccess(context, outcome, await runtime.sessions.status(sessionId));
    return EXIT_CODES[outcome.outcome];
  } finally {
    progress.stop();
  }
}

/** Work that stopped before its end is a failure of the work; a session that has nothing to do is not. */
export const EXIT_CODES = {
  sleep: EXIT_SUCCESS,
  requires_action: EXIT_SUCCESS,
  rescheduled: EXIT_SUCCESS,
  nothing_to_do: EXIT_SUCCESS,
  budget_reached: EXIT_FAILURE,
  failed: EXIT_FAILURE,
  parked: EXIT_FAILURE,
  interrupted: EXIT_FAILURE,
  aborted: EXIT_FAILURE,
  terminated: EXIT_FAILURE,
} as const satisfies Record<WakeOutcome['outcome'], number>;

async function tellSuccess(
  context: CommandContext,
  { outcome, summary }: WakeOutcome,
  state: SessionState,
): Promise<void> {
  const { out } = context;
  if (outcome !== 'nothing_to_do') {
    const ending = ENDINGS[outcome];
    const told = printable(summary);
    // That of a session that waits says so itself.
    const said = told.startsWith(ending.slice(0, -1)) ? told : `${ending} ${told}`;
    const text = wrapped(said, out.columns).join('\n');
    await out.line(text.startsWith(ending) ? `${out.styles.green(ending)}${text.slice(ending.length)}` : text);
    if (outcome !== 'requires_action') return;
  } else await out.line(printable(summary));
  await out.line(whatNext(context, state));
}

function whatNext(context: CommandContext, { sessionId, pendingActions, queuedWakes }: SessionState): string {
  if (pendingActions.length > 0)
    return `What it waits for, and how to answer: ${nextCommand(context, 'session', 'why', '--session', sessionId)}`;
  const [soonest] = queuedWakes.map(({ dueAt }) => dueAt).toSorted();
  if (soonest !== undefined) return `The next queued wake is due ${localTime(soonest)}.`;
  return `Send it something: ${nextCommand(context, 'session', 'send', '--session', sessionId, '--message', 'TEXT')}`;
}

/** The summary of a failure repeats it; the failure itself says it with its code. */
async function tellFailure(context: CommandContext, { sessionId, summary, error }: WakeOutcome): Promise<void> {
  const { styles } = context.err;
  const text =
    error === undefined ? printable(summary) : `${printable(error.message)} ${styles.dim(`[${error.code}]`)}`;
  const hint = error?.hint ?? `Check the log: ${nextCommand(context, 'session', 'events', '--session', sessionId)}`;
  await context.err.line(
    [`${styles.red('error:')} ${text}`, ...hintText(textAsTyped(context, hint), styles)].join('\n'),
  );
}

const ENDINGS = {
  sleep: 'Asleep.',
  requires_action: 'Waits for an answer.',
  rescheduled: 'Goes on later.',
  budget_reached: 'Stopped.',
  failed: 'Failed.',
  parked: 'Parked.',
  interrupted: 'Interrupted.',
  aborted: 'Stopped.',
  terminated: 'Terminated.',
} as const satisfies Record<Exclude<WakeOutcome['outcome'], 'nothing_to_do'>, string>;
