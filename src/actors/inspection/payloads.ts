/** Copies payloads as long as the budget of this turn of the event loop lasts, and says what it left out. */
import type { Clock } from '../clock/clock.ts';
import { BoundedCopy } from './bounded-copy.ts';
import type { InspectedText } from './inspected-text.ts';
import type { RecorderLimits } from '../../machines/inspection-log/recorder-limits.ts';

export class Payloads {
  readonly #clock: Clock;
  readonly #limits: RecorderLimits;
  readonly #copy: BoundedCopy;
  #characters = 0;
  #ms = 0;
  /** Payloads that were left out, because the turn had too many. */
  dropped = 0;
  /** Payloads of which something was left out. */
  cut = 0;
  /** Of the last payload. */
  isCut = false;
  /** What the last payload takes up. */
  size = 0;

  constructor({
    clock,
    limits,
    text,
  }: {
    readonly clock: Clock;
    readonly limits: RecorderLimits;
    readonly text: InspectedText;
  }) {
    this.#clock = clock;
    this.#limits = limits;
    this.#copy = new BoundedCopy(text, limits);
  }

  of(value: unknown, without?: ReadonlySet<string>): unknown {
    if (this.#characters >= this.#limits.charactersPerTurn || this.#ms >= this.#limits.payloadMsPerTurn)
      return this.#drop();
    const startedMs = this.#clock.steadyNow();
    const copy = this.#copy.of(value, without);
    this.#ms += this.#clock.steadyNow() - startedMs;
    this.size = this.#copy.characters;
    this.#characters += this.size;
    this.isCut = this.#copy.isCut;
    if (this.isCut) this.cut += 1;
    return copy;
  }

  nextTurn(): void {
    this.#characters = 0;
    this.#ms = 0;
  }

  #drop(): undefined {
    this.dropped += 1;
    this.isCut = true;
    this.size = 0;
  }
}
