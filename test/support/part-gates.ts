/**
 * Holds back the parts of a work, such as those of a wake, until a test lets each of them begin or break: what a part
 * does is all its own.
 */

type Work<Part extends string> = Record<Part, (...given: readonly unknown[]) => Promise<unknown>>;

interface Arrival {
  readonly begin: () => void;
  readonly break: () => void;
}

export interface PartGatesOptions<Part extends string> {
  /** Those that do their work even when they break, since nobody else could give back what they hold. */
  readonly worksAllTheSame?: readonly Part[];
}

/** For one work at a time. */
export class PartGates<Part extends string> {
  readonly #prototype: Work<Part>;
  readonly #originals: ReadonlyMap<Part, Work<Part>[Part]>;
  readonly #worksAllTheSame: readonly Part[];
  #arrival: Arrival | undefined;
  #isOver = false;
  #onChange: () => void = () => undefined;

  constructor(prototype: object, parts: readonly Part[], { worksAllTheSame = [] }: PartGatesOptions<Part> = {}) {
    this.#prototype = prototype as Work<Part>;
    this.#originals = new Map(parts.map((part) => [part, this.#prototype[part]]));
    this.#worksAllTheSame = worksAllTheSame;
  }

  /** Whether nobody waits at a gate. */
  get isIdle(): boolean {
    return this.#arrival === undefined;
  }

  put(): void {
    for (const [part, original] of this.#originals) {
      const pass = (): Promise<boolean> =>
        new Promise((resolve) => this.#arrive({ begin: () => resolve(true), break: () => resolve(false) }));
      const worksAllTheSame = this.#worksAllTheSame.includes(part);
      this.#prototype[part] = async function gated(this: unknown, ...given) {
        const isSound = await pass();
        const answer = isSound || worksAllTheSame ? await original.apply(this, [...given]) : undefined;
        if (!isSound) throw new Error(`${part} breaks`);
        return answer;
      };
    }
  }

  remove(): void {
    for (const [part, original] of this.#originals) this.#prototype[part] = original;
  }

  /** Lets the part that waits begin. Resolves when the next one waits, or the work is over. */
  begin(): Promise<void> {
    return this.#pass((arrival) => arrival.begin());
  }

  break(): Promise<void> {
    return this.#pass((arrival) => arrival.break());
  }

  /** Resolves when a part waits, or the work is over. */
  async arrived(): Promise<void> {
    while (this.#arrival === undefined && !this.#isOver)
      await new Promise<void>((resolve) => (this.#onChange = resolve));
  }

  /** The work is over: nothing more will arrive. */
  leave(): void {
    this.#isOver = true;
    this.#onChange();
  }

  /** For the next work. */
  reset(): void {
    this.#isOver = false;
  }

  async #pass(how: (arrival: Arrival) => void): Promise<void> {
    const arrival = this.#arrival;
    this.#arrival = undefined;
    if (arrival !== undefined) how(arrival);
    await this.arrived();
  }

  #arrive(arrival: Arrival): void {
    this.#arrival = arrival;
    this.#onChange();
  }
}
