/** Numbers and stamps the events of one run, so that every backend streams the same life: one start, then whatever happens, then one end. */
import type { AgentRunEvent, AgentRunEventBody } from '../../machines/run/run-output.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';

export interface RunEventsOptions {
  readonly runId: string;
  readonly clock: Clock;
  readonly onEvent: ((event: AgentRunEvent) => void) | undefined;
}

export class RunEvents {
  readonly #options: RunEventsOptions;
  #seq = 0;
  #hasEnded = false;

  constructor(options: RunEventsOptions) {
    this.#options = options;
  }

  /** Announces an event. After the one that ends the run nothing is announced any more. */
  emit(body: AgentRunEventBody): void {
    if (this.#hasEnded) return;
    this.#hasEnded = body.stream === 'lifecycle' && body.data.phase !== 'start';
    this.#seq += 1;
    const { runId, clock, onEvent } = this.#options;
    onEvent?.(Object.freeze({ ...body, runId, seq: this.#seq, ts: isoTimeOf(clock.now()) }));
  }
}
