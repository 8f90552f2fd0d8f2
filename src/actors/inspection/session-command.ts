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

export class SessionCommands {
  readonly #options: SessionCommandsOptions;
  readonly #queue: (() => void)[] = [];
  #running = 0;

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
    this.#queue.length = 0;
  }

  async #wake(sessionId: string): Promise<CommandReceipt> {
    const { sessions, wake, clock, onProblem } = this.#options;
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
    if (this.#running >= MAX_WAKES) {
      this.#queue.push(() => void this.#begun(sessionId, wake).catch(onProblem));
      return { text: `It is woken as soon as one of ${MAX_WAKES} wakes that were begun here has ended` };
    }
    const waking = this.#begun(sessionId, wake);
    const isOver = await waitFor(
      waking.catch(() => undefined),
      { clock, timeoutMs: PATIENCE_MS },
    );
    if (isOver === 'over') return { text: wokenText(await waking) };
    waking.catch(onProblem);
    return { text: 'Woken: its wake runs' };
  }

  async #begun(sessionId: string, wake: NonNullable<SessionCommandsOptions['wake']>): Promise<WakeOutcome> {
    this.#running += 1;
    try {
      return await wake(sessionId);
    } finally {
      this.#running -= 1;
      this.#queue.shift()?.();
    }
  }
}

function wokenText({ outcome, summary, error }: WakeOutcome): string {
  if (outcome === 'nothing_to_do') return summary;
  return `Woken: ${outcome.replaceAll('_', ' ')}. ${error === undefined ? summary : messageOf(error)}`.trim();
}
