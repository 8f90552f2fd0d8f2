/**
 * Numbers and stamps the events of one run, so that every backend streams the same life: one start, then whatever
 * happens, then one end.
 */
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { AgentRunEvent, AgentRunEventBody } from '../../machines/run/run-output.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import { reportToConsole, safely } from '../streams/listener-errors.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';

export interface RunEventsOptions {
  readonly runId: string;
  readonly clock: Clock;
  readonly onEvent: ((event: AgentRunEvent) => void) | undefined;
  /** Told of the first error of the listener; it goes on hearing. Default: the console. */
  readonly onListenerError?: OnListenerError | undefined;
}

export class RunEvents {
  readonly #options: RunEventsOptions;
  #seq = 0;
  #hasBegun = false;
  #hasEnded = false;
  #isReported = false;

  constructor(options: RunEventsOptions) {
    this.#options = options;
  }

  /** Announces an event. After the one that ends the run nothing is announced any more. */
  emit(body: AgentRunEventBody): void {
    if (this.#hasEnded) return;
    this.#hasEnded = body.stream === 'lifecycle' && body.data.phase !== 'start';
    this.#seq += 1;
    const { runId, clock } = this.#options;
    this.#tell(Object.freeze({ ...body, runId, seq: this.#seq, ts: isoTimeOf(clock.now()) }));
  }

  /** Announces the start, once. */
  begin(model: { readonly provider: string; readonly model: string }): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.emit({ stream: 'lifecycle', data: { phase: 'start', ...model } });
  }

  /** Announces how a run ended that has not succeeded. */
  fail(failure: RunFailure): void {
    if (failure.kind === 'aborted')
      this.emit({ stream: 'lifecycle', data: { phase: 'aborted', reason: failure.message } });
    else this.emit({ stream: 'lifecycle', data: { phase: 'error', error: failure } });
  }

  /** A listener that throws must not end the run half-way, with what it holds still open. */
  #tell(event: AgentRunEvent): void {
    const { onEvent, onListenerError = reportToConsole } = this.#options;
    try {
      onEvent?.(event);
    } catch (error) {
      if (!this.#isReported) safely(onListenerError)(error, 'listener');
      this.#isReported = true;
    }
  }
}
