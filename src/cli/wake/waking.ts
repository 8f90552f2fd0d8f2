/**
 * The wakes of one session for the person at the terminal: told as they happen, cut short when that is wanted, and gone
 * on with as long as the person answers.
 */
import type { ToolProgress } from '../../actors/turn/tool.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { Runtime } from '../../runtime.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { followedWake } from './followed-wake.ts';
import type { LineInput } from '../terminal/line-input.ts';
import { LiveQuestions } from './live-questions.ts';
import { Person } from './person.ts';
import type { Progress } from '../terminal/progress.ts';
import { oneLine } from '../terminal/text.ts';
import { TranscriptView } from '../session/transcript-view.ts';
import { WakeView } from './view.ts';

/** Of each tool's output; the log holds all of it. */
const OUTPUT_LINES = 4;

/** With nothing to do it may still wait for what was asked before. */
const MAY_WAIT_FOR_ANSWERS: ReadonlySet<WakeOutcome['outcome']> = new Set(['requires_action', 'nothing_to_do']);

export interface WakingOptions {
  readonly context: CommandContext;
  readonly runtime: Runtime;
  readonly sessionId: string;
  readonly agentId: string;
  readonly progress: Progress;
  readonly isAnsweredHere: boolean;
}

export class Waking {
  readonly #options: WakingOptions;
  readonly #view: Pick<WakeView, 'show' | 'remember'>;
  readonly #show: (event: SessionEvent) => Promise<void>;
  readonly #isTranscript: boolean;
  /** Aborted when the user has interrupted twice. */
  readonly #force = new AbortController();

  constructor(options: WakingOptions) {
    this.#options = options;
    const { out, json } = options.context;
    this.#isTranscript = out.isTerminal && !json;
    this.#view = this.#viewOf(options);
    this.#show = json ? (event) => out.record({ event }) : (event) => this.#view.show(event);
  }

  /**
   * One wake, and with a person to ask another one after each answer. What can be answered while it runs is asked then.
   */
  async untilItRests(input: LineInput | undefined): Promise<WakeOutcome> {
    const { context, runtime, sessionId, progress } = this.#options;
    const { err, interruption } = context;
    const person =
      input === undefined
        ? undefined
        : new Person({ sessions: runtime.sessions, input, err, signal: interruption.signal });
    const release = interruption.guard(() => this.#force.abort('interrupted twice'));
    try {
      await rememberCalls(runtime.sessions, sessionId, this.#view);
      for (;;) {
        const outcome = await this.#wake(person);
        if (!MAY_WAIT_FOR_ANSWERS.has(outcome.outcome) || person === undefined) return outcome;
        progress.stop();
        if (!(await person.answerFor(sessionId))) return outcome;
      }
    } finally {
      release();
    }
  }

  async #wake(person: Person | undefined): Promise<WakeOutcome> {
    const { context, runtime, sessionId, progress } = this.#options;
    const { err, interruption } = context;
    const questions =
      person === undefined
        ? undefined
        : new LiveQuestions({
            sessions: runtime.sessions,
            person,
            progress,
            err,
            commandFor: (...words) => nextCommand(context, ...words),
          });
    const showOfChild = this.#isTranscript ? this.#show : async (): Promise<void> => undefined;
    try {
      return await followedWake({
        runtime,
        sessionId,
        signal: interruption.signal,
        force: this.#force.signal,
        onEvent: questions === undefined ? this.#show : (event) => questions.hear(event, this.#show),
        onRunEvent: (event) => progress.hear(event),
        onToolProgress: ({ name }, how) => progress.waitFor(progressText(name, how)),
        // The person asked for this session is asked for those that work for it.
        onChildEvent:
          questions !== undefined
            ? (event) => questions.hear(event, showOfChild)
            : this.#isTranscript
              ? this.#show
              : undefined,
      });
    } finally {
      await questions?.end();
    }
  }

  #viewOf({ context, progress, agentId, isAnsweredHere }: WakingOptions): Pick<WakeView, 'show' | 'remember'> {
    const { out } = context;
    // A person who is asked at once needs no command for it.
    const answering = isAnsweredHere
      ? {}
      : { commandFor: (...words: readonly string[]) => nextCommand(context, ...words) };
    return this.#isTranscript
      ? new TranscriptView({ out, progress, agentId, ...answering })
      : new WakeView({ out, agentId, progress, outputLines: OUTPUT_LINES, ...answering });
  }
}

/** What the calls are that an earlier wake left open. */
async function rememberCalls(
  sessions: Runtime['sessions'],
  sessionId: string,
  view: Pick<WakeView, 'remember'>,
): Promise<void> {
  const { openToolCalls } = await sessions.status(sessionId);
  for (const { seq } of openToolCalls) {
    for await (const event of sessions.events(sessionId, { from: seq, limit: 1 }))
      if (event.type === 'agent.tool_use') view.remember(event);
  }
}

/** How far a long tool call has come, on one line. */
function progressText(toolName: string, { message, done, total }: ToolProgress): string {
  const share = done === undefined ? '' : total === undefined ? String(done) : `${done} of ${total}`;
  return [oneLine(toolName), share, message === undefined ? '' : oneLine(message)]
    .filter((part) => part !== '')
    .join('  ');
}
