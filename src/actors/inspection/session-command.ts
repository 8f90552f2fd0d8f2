/**
 * What a person has a session do from an inspector, beside answers: the same calls as those of the command line, with
 * the same records in its log.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';
import type { Sessions } from '../session/sessions.ts';
import type { CommandReceipt, InspectionCommand } from './inspection-source.ts';

/** Wakes that were begun by viewers and run at once; a model is asked in each. */
const MAX_WAKES = 8;
/** Sessions that wait for their turn: as many as a person ticks, and not what a script sends. */
const MAX_QUEUED = 500;
/** Until then a wake says itself what became of it, where it is over that soon. */
const PATIENCE_MS = 1_500;

export interface SessionCommandsOptions {
  readonly sessions: Pick<Sessions, 'status' | 'interrupt' | 'terminate'>;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Absent: no session is woken here. */
  readonly wake?: ((sessionId: string) => Promise<WakeOutcome>) | undefined;
  /** Hears why a wake failed whose caller has been answered. */
  readonly onProblem: (error: unknown) => void;
}

type Wake = NonNullable<SessionCommandsOptions['wake']>;

export class SessionCommands {
  readonly #options: SessionCommandsOptions;
  /** Sessions to be woken, in the order in which they were asked for. */
  readonly #queue = new Set<string>();
  #running = 0;
  #isClosed = false;

  constructor(options: SessionCommandsOptions) {
    this.#options = options;
  }

  /** @throws RuntimeError of the session, and INSPECTION_WAKES_NOTHING */
  async take(sessionId: string, command: InspectionCommand): Promise<CommandReceipt> {
    const { sessions } = this.#options;
    if (command.type === 'wake') return this.#wake(sessionId);
    const reason = command.reason === undefined ? {} : { reason: command.reason };
    if (command.type === 'interrupt') {
      const { seq } = await sessions.interrupt(sessionId, reason);
      return { text: `Interrupted: stored as event ${seq}` };
    }
    const before = await sessions.status(sessionId);
    const { head } = await sessions.terminate(sessionId, reason);
    return {
      text: before.status === 'terminated' ? 'It was terminated before' : `Terminated: stored up to event ${head}`,
    };
  }

  /** What waits for its turn is not begun any more. */
  close(): void {
    this.#isClosed = true;
    this.#queue.clear();
  }

  async #wake(sessionId: string): Promise<CommandReceipt> {
    const { sessions, wake } = this.#options;
    const { status } = await sessions.status(sessionId);
    if (status === 'terminated')
      throw new RuntimeError('SESSION_TERMINATED', `session ${sessionId} is terminated, and wakes no more`, {
        category: 'conflict',
        hint: 'Fork it to go on from before its end.',
      });
    if (wake === undefined)
      throw new RuntimeError('INSPECTION_WAKES_NOTHING', 'what is shown here wakes no session', {
        category: 'conflict',
        hint: `Wake it with \`wakechart wake --session ${sessionId}\`, or let a worker.`,
      });
    if (this.#isClosed)
      throw new RuntimeError('INSPECTION_ENDED', 'the inspector has been closed, and wakes no session any more', {
        category: 'conflict',
        hint: `Wake it with \`wakechart wake --session ${sessionId}\`, or let a worker.`,
      });
    return this.#running >= MAX_WAKES ? this.#queued(sessionId) : this.#woken(sessionId, wake);
  }

  /** One that waits already is woken once. */
  #queued(sessionId: string): CommandReceipt {
    if (this.#queue.size >= MAX_QUEUED && !this.#queue.has(sessionId))
      throw new RuntimeError('WAKE_QUEUE_FULL', `${MAX_QUEUED} sessions wait to be woken from here already`, {
        category: 'capacity',
        hint: `Ask again later, or wake it with \`wakechart wake --session ${sessionId}\`.`,
      });
    this.#queue.add(sessionId);
    return { text: `It is woken as soon as one of ${MAX_WAKES} wakes that were begun here has ended` };
  }

  async #woken(sessionId: string, wake: Wake): Promise<CommandReceipt> {
    const { clock, onProblem } = this.#options;
    const waking = this.#begun(sessionId, wake);
    if ((await waitFor(waking, { clock, timeoutMs: PATIENCE_MS })) === 'over') return { text: wokenText(await waking) };
    waking.catch(onProblem);
    return { text: 'Woken: its wake runs' };
  }

  async #begun(sessionId: string, wake: Wake): Promise<WakeOutcome> {
    this.#running += 1;
    try {
      return await wake(sessionId);
    } finally {
      this.#running -= 1;
      const [next] = this.#queue;
      if (next !== undefined) this.#goOn(next, wake);
    }
  }

  #goOn(sessionId: string, wake: Wake): void {
    this.#queue.delete(sessionId);
    void this.#begun(sessionId, wake).catch(this.#options.onProblem);
  }
}

function wokenText({ outcome, summary, error }: WakeOutcome): string {
  if (outcome === 'nothing_to_do') return summary;
  return `Woken: ${outcome.replaceAll('_', ' ')}. ${error === undefined ? summary : messageOf(error)}`.trim();
}
