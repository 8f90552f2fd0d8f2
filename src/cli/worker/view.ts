/**
 * What a worker does, for people: one line when a wake begins and one when it ends, and what it waits for in between.
 */
import type { SessionWorkerEvent, SessionWorkerSummary } from '../../actors/session/session-worker-types.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import type { ActivationKind } from '../../machines/session/activation.ts';
import { WAKE_ELSEWHERE } from '../../machines/workspace-copy/copy-state.ts';
import type { FactLog, LogLevel } from '../terminal/fact-log.ts';
import type { Output } from '../terminal/output.ts';
import { factOf } from './facts.ts';
import { textOfIsolation } from '../isolation.ts';
import type { Isolation } from '../isolation.ts';
import type { Progress } from '../terminal/progress.ts';
import { counted, durationText, localTime, oneLine } from '../terminal/text.ts';

export interface WorkerViewOptions {
  readonly out: Pick<Output, 'styles'>;
  readonly log: FactLog;
  readonly progress: Progress;
}

const LABEL_WIDTH = 8;

/** Lateness below this is not worth a word, in milliseconds. */
const WORTH_SAYING_MS = 1_000;

const REASONS = { ingress: 'a message', wake: 'a queued wake', retry: 'unfinished work' } as const satisfies Record<
  ActivationKind,
  string
>;

export class WorkerView {
  readonly #options: WorkerViewOptions;
  #running = 0;
  /** What this worker was said to lack, and the sessions that need it: they come again and again. */
  readonly #lacks = new Set<unknown>();
  readonly #left = new Set<string>();

  constructor(options: WorkerViewOptions) {
    this.#options = options;
    options.progress.waitFor('searching for what is due');
  }

  /** @param isolation what a wake that begins is shut in by */
  async show(event: SessionWorkerEvent, isolation?: Isolation): Promise<void> {
    const { log, progress } = this.#options;
    if (event.type === 'woke') this.#running += 1;
    else if ('sessionId' in event) this.#running -= 1;
    const line = this.#lineOf(event, isolation);
    progress.clear();
    progress.waitFor(this.#running > 0 ? `${this.#running} at work` : waitingText(event));
    const fact = factOf(event);
    await log.tell({ ...fact, level: this.#levelOf(event) ?? fact.level, line });
  }

  #levelOf(event: SessionWorkerEvent): LogLevel | undefined {
    if (event.type === 'woke') return this.#left.has(event.sessionId) ? 'debug' : undefined;
    if (event.type !== 'contended' || !isLeft(event.reason)) return undefined;
    this.#left.add(event.sessionId);
    const lacks = event.reason?.details?.['lacks'];
    if (this.#lacks.has(lacks)) return 'debug';
    this.#lacks.add(lacks);
    return 'warn';
  }

  #lineOf(event: SessionWorkerEvent, isolation: Isolation | undefined): string {
    const { styles } = this.#options.out;
    switch (event.type) {
      case 'woke': {
        const late = event.latenessMs < WORTH_SAYING_MS ? '' : `, ${durationText(event.latenessMs)} late`;
        return this.#line(
          event,
          styles.cyan('wakes'.padEnd(LABEL_WIDTH)),
          `${REASONS[event.activation.kind]}${late}${isolation === undefined ? '' : styles.dim(`, in ${textOfIsolation(isolation)}`)}`,
        );
      }
      case 'slept':
        return this.#line(
          event,
          styles.green(event.outcome.outcome.padEnd(LABEL_WIDTH)),
          `${oneLine(event.outcome.summary, 120)} ${styles.dim(durationText(event.tookMs))}`,
        );
      case 'passed':
        return this.#line(event, styles.dim('passes'.padEnd(LABEL_WIDTH)), 'nothing to do');
      case 'contended':
        return this.#line(
          event,
          styles.dim('passes'.padEnd(LABEL_WIDTH)),
          event.reason === undefined ? 'another process is at it' : leftText(event.reason, styles),
        );
      case 'failed':
      case 'parked': {
        const again = event.againAt === undefined ? '' : `, tried again ${localTime(event.againAt)}`;
        return this.#line(
          event,
          styles.red(event.type.padEnd(LABEL_WIDTH)),
          `${oneLine(event.reason.message, 200)} ${styles.dim(`[${event.reason.code}]`)}${again}`,
        );
      }
      case 'troubled':
        return `${styles.red('trouble'.padEnd(LABEL_WIDTH))}  ${oneLine(event.reason.message, 200)} ${styles.dim(`[${event.reason.code}]`)}, tried again ${localTime(event.againAt)}`;
      case 'idle':
        return waitingText(event);
    }
  }

  #line(
    { agentId, sessionId }: { readonly agentId: string; readonly sessionId: string },
    label: string,
    text: string,
  ): string {
    return `${label}  ${agentId} ${this.#options.out.styles.dim(sessionId)}  ${text}`;
  }
}

function leftText(
  { message, hint }: Pick<ErrorRecord, 'message'> & { readonly hint?: string | undefined },
  styles: Output['styles'],
): string {
  return `${oneLine(message, 200)}${hint === undefined ? '' : ` ${styles.dim(oneLine(hint, 300))}`}`;
}

function waitingText(event: SessionWorkerEvent): string {
  if (event.type !== 'idle') return 'searching for what is due';
  return event.nextDueAt === undefined
    ? 'nothing is due; waiting for messages'
    : `nothing is due before ${localTime(event.nextDueAt)}; waiting for messages`;
}

/** What did not come to its end, beside the wakes that the summary counts. */
export interface CutOff {
  readonly commands: number;
  /** The time that it was given, in milliseconds; undefined when the user did not want to wait. */
  readonly afterMs: number | undefined;
}

const ENDINGS = {
  idle: 'Nothing is due.',
  stopped: 'Stopped.',
  forced: 'Stopped at once.',
} as const satisfies Record<SessionWorkerSummary['endedBecause'], string>;

/** Others were stopped before, such as those of a worker whose store was away for long. */
export function cutOffWakes({ counts, endedBecause }: Pick<SessionWorkerSummary, 'counts' | 'endedBecause'>): number {
  return endedBecause === 'forced' ? counts.aborted : 0;
}

/** The last line of a worker. */
export function workerEnding(
  { counts, endedBecause, setAside }: SessionWorkerSummary,
  { commands, afterMs }: CutOff,
): string {
  const wakes = cutOffWakes({ counts, endedBecause });
  const before = counts.aborted - wakes;
  const cut = workText({ wakes, commands });
  const when = afterMs === undefined ? 'at once' : `after ${secondsText(afterMs)}`;
  const ending =
    cut === '' ? ENDINGS[endedBecause] : `Stopped ${when}: ${cut} ${wakes + commands === 1 ? 'was' : 'were'} cut off.`;
  const elsewhere = leftToOthers({ setAside });
  const later = setAside.length - elsewhere;
  return [
    elsewhere > 0 && ending === ENDINGS.idle ? 'Nothing else is due.' : ending,
    `${counted(counts.succeeded, 'wake')} went well, ${counts.failed} failed${before === 0 ? '' : `, ${before} stopped before`}.`,
    ...(later === 0 ? [] : [`${counted(later, 'session')} left for later.`]),
    ...(elsewhere === 0 ? [] : [`${counted(elsewhere, 'session')} left undone: this worker lacks what they need.`]),
  ].join(' ');
}

/** Whether an error says that a process lacks what a session needs, such as its agent. */
export function isLeft(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === WAKE_ELSEWHERE;
}

/** How many sessions were due, and need what this worker lacks. */
export function leftToOthers({ setAside }: Pick<SessionWorkerSummary, 'setAside'>): number {
  return setAside.filter(({ reason }) => isLeft(reason)).length;
}

/** `1 wake and 2 commands`; empty for nothing. */
export function workText({ wakes, commands }: { readonly wakes: number; readonly commands: number }): string {
  return [wakes > 0 ? counted(wakes, 'wake') : '', commands > 0 ? counted(commands, 'command') : '']
    .filter((words) => words !== '')
    .join(' and ');
}

export function secondsText(durationMs: number): string {
  return `${Math.round(durationMs / 1_000)} s`;
}
