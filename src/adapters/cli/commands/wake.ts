/** `wakechart wake`: one wake of a session, told as it happens. Whoever sits at a terminal is asked what it waits for, and it goes on. */
import type { NodeRuntime } from '../../../node.ts';
import type { SessionEvent } from '../../../machines/session/session-event.ts';
import type { WakeOutcome } from '../../../machines/wake/wake-outcome.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS, hintText } from '../failure.ts';
import { followedWake } from '../followed-wake.ts';
import { LineInput } from '../line-input.ts';
import { withRuntime } from '../open-runtime.ts';
import { Person } from '../person.ts';
import { Progress } from '../progress.ts';
import { withSessions } from '../stores.ts';
import { localTime, printable } from '../text.ts';
import { wrapped } from '../text-width.ts';
import { progressText } from '../tool-progress.ts';
import { TranscriptView } from '../transcript-view.ts';
import { WakeView } from '../wake-view.ts';
import { checkedSessionId } from './session.ts';

/** Of each tool's output; the log holds all of it. */
const OUTPUT_LINES = 4;

export interface WakeCommandOptions {
  readonly session: string;
  /** Whether somebody can be asked. */
  readonly human: boolean;
}

export async function wakeSession(context: CommandContext, { session, human }: WakeCommandOptions): Promise<number> {
  const { err, json } = context;
  // Before anything is made or started for it.
  const { sessionId, agentId } = await withSessions(context, ({ sessions }) => sessions.status(checkedSessionId(session)));
  return withRuntime(
    context,
    async (runtime) => {
      const progress = new Progress(err);
      const asks = human && !json && err.isTerminal && process.stdin.isTTY;
      const waking = new Waking({ context, runtime, sessionId, agentId, progress, isAnsweredHere: asks });
      try {
        const outcome = await waking.untilItRests(asks ? new LineInput(process.stdin) : undefined);
        progress.stop();
        if (json) await context.out.record({ outcome });
        if (EXIT_CODES[outcome.outcome] !== EXIT_SUCCESS) await tellFailure(context, outcome);
        else if (!json) await tellSuccess(context, outcome, await nextDue(runtime.sessions, sessionId));
        return EXIT_CODES[outcome.outcome];
      } finally {
        progress.stop();
      }
    },
    { humans: human ? 'reachable' : 'none' },
  );
}

interface WakingOptions {
  readonly context: CommandContext;
  readonly runtime: NodeRuntime;
  readonly sessionId: string;
  readonly agentId: string;
  readonly progress: Progress;
  readonly isAnsweredHere: boolean;
}

class Waking {
  readonly #options: WakingOptions;
  readonly #view: Pick<WakeView, 'show' | 'remember'>;
  readonly #show: (event: SessionEvent) => Promise<void>;
  readonly #isTranscript: boolean;
  /** Aborted when somebody has interrupted twice. */
  readonly #force = new AbortController();

  constructor(options: WakingOptions) {
    this.#options = options;
    const { out, json } = options.context;
    this.#isTranscript = out.isTerminal && !json;
    this.#view = this.#viewOf(options);
    this.#show = json ? (event) => out.record({ event }) : (event) => this.#view.show(event);
  }

  /** One wake, and with somebody to ask another one after each answer. */
  async untilItRests(input: LineInput | undefined): Promise<WakeOutcome> {
    const { context, runtime, sessionId, progress } = this.#options;
    const { err, interruption } = context;
    const person = input === undefined ? undefined : new Person({ sessions: runtime.sessions, input, err, signal: interruption.signal });
    const release = interruption.guard(() => this.#force.abort('interrupted twice'));
    try {
      await rememberCalls(runtime.sessions, sessionId, this.#view);
      for (;;) {
        const outcome = await this.#wake();
        if (outcome.outcome !== 'requires_action' || person === undefined) return outcome;
        progress.stop();
        if (!(await person.answerFor(sessionId))) return outcome;
      }
    } finally {
      release();
    }
  }

  #wake(): Promise<WakeOutcome> {
    const { context, runtime, sessionId, progress } = this.#options;
    return followedWake({
      runtime,
      sessionId,
      signal: context.interruption.signal,
      force: this.#force.signal,
      onEvent: this.#show,
      onToolProgress: ({ name }, how) => progress.waitFor(progressText(name, how)),
      ...(this.#isTranscript ? { onChildEvent: this.#show } : {}),
    });
  }

  #viewOf({ context, progress, agentId, isAnsweredHere }: WakingOptions): Pick<WakeView, 'show' | 'remember'> {
    const { out } = context;
    if (!this.#isTranscript) return new WakeView({ out, progress, outputLines: OUTPUT_LINES });
    // Whoever is asked at once needs no command for it.
    return new TranscriptView({ out, progress, agentId, ...(isAnsweredHere ? {} : { commandFor: (...words: readonly string[]) => nextCommand(context, ...words) }) });
  }
}

/** What the calls are that an earlier wake left open. */
async function rememberCalls(sessions: NodeRuntime['sessions'], sessionId: string, view: Pick<WakeView, 'remember'>): Promise<void> {
  const { openToolCalls } = await sessions.status(sessionId);
  for (const { seq } of openToolCalls) {
    for await (const event of sessions.events(sessionId, { from: seq, limit: 1 })) if (event.type === 'agent.tool_use') view.remember(event);
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

async function tellSuccess(context: CommandContext, { sessionId, outcome, summary }: WakeOutcome, due: string | undefined): Promise<void> {
  const { out } = context;
  if (outcome !== 'nothing_to_do') {
    const ending = ENDINGS[outcome];
    const text = wrapped(`${ending} ${printable(summary)}`, out.columns).join('\n');
    return out.line(text.startsWith(ending) ? `${out.styles.green(ending)}${text.slice(ending.length)}` : text);
  }
  await out.line(printable(summary));
  const send = nextCommand(context, 'session', 'send', '--session', sessionId, '--message', 'TEXT');
  await out.line(due === undefined ? `Send it something: ${send}` : `The next queued wake is due ${due}.`);
}

/** The summary of a failure repeats it; the failure itself says it with its code. */
async function tellFailure(context: CommandContext, { sessionId, summary, error }: WakeOutcome): Promise<void> {
  const { styles } = context.err;
  const text = error === undefined ? printable(summary) : `${printable(error.message)} ${styles.dim(`[${error.code}]`)}`;
  const hint = error?.hint ?? `Look at the log: ${nextCommand(context, 'session', 'events', '--session', sessionId)}`;
  await context.err.line([`${styles.red('error:')} ${text}`, ...hintText(hint, styles)].join('\n'));
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

async function nextDue(sessions: { status(sessionId: string): Promise<{ readonly queuedWakes: readonly { readonly dueAt: string }[] }> }, sessionId: string): Promise<string | undefined> {
  const { queuedWakes } = await sessions.status(sessionId);
  const [soonest] = queuedWakes.map(({ dueAt }) => dueAt).toSorted();
  return soonest === undefined ? undefined : localTime(soonest);
}
