/**
 * The events of a session that the page has read: all from one number on to the newest, as far as they can be read.
 * Older ones come when the reader asks for them.
 */
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ShownSteps } from '../../../actors/inspection/shown-answers.ts';
import type { TranscriptStep } from '../../../machines/inspection-log/transcript-step.ts';
import { server } from '../model/transport.ts';

export type ReadSteps = (sessionId: string, from: number, limit: number) => Promise<ShownSteps>;

const AT_FIRST = 400;
const PAGE = 500;
/** Further behind, the newest are read anew. */
const MAX_BEHIND = 5_000;
/** The oldest are dropped, beyond that. */
const MAX_KEPT = 12_000;

export class SessionLog {
  readonly #sessionId: string;
  readonly #read: ReadSteps;
  /** From this number on they were read. Damage may have left some of them out. */
  #from = 0;
  readonly #steps = signal<readonly TranscriptStep[]>([]);

  constructor(sessionId: string, read: ReadSteps = server.transcript) {
    this.#sessionId = sessionId;
    this.#read = read;
  }

  get steps(): ReadonlySignal<readonly TranscriptStep[]> {
    return this.#steps;
  }

  /** Whether there are older ones that can still be read here. */
  get hasEarlier(): boolean {
    return this.#from > 1;
  }

  /** @param head number of the newest event */
  async readTo(head: number): Promise<void> {
    const last = this.#steps.value.at(-1)?.seq ?? 0;
    // A log that has become shorter is another one.
    if (head < last || head - last > MAX_BEHIND || last === 0) return this.#begin(head);
    this.#keep([...this.#steps.value, ...(await this.#pages(last + 1, head))]);
  }

  async readEarlier(): Promise<void> {
    const first = this.#from;
    if (first <= 1) return;
    const from = Math.max(1, first - AT_FIRST);
    const older = await this.#pages(from, first - 1);
    if (this.#from !== first) return;
    this.#from = from;
    this.#steps.value = [...older, ...this.#steps.value];
  }

  async #begin(head: number): Promise<void> {
    const from = Math.max(1, head - AT_FIRST + 1);
    const steps = await this.#pages(from, head);
    this.#from = from;
    this.#steps.value = steps;
  }

  /** From one number to another, both included, as far as they can be had. */
  async #pages(from: number, to: number): Promise<readonly TranscriptStep[]> {
    const found: TranscriptStep[] = [];
    for (let next = from; next <= to;) {
      const { steps } = await this.#read(this.#sessionId, next, Math.min(PAGE, to - next + 1));
      const last = steps.at(-1)?.seq;
      if (last === undefined || last < next) break;
      // Where damage took events away, later ones are told in their place.
      found.push(...steps.filter(({ seq }) => seq <= to));
      next = last + 1;
    }
    return found;
  }

  #keep(steps: readonly TranscriptStep[]): void {
    if (steps.length === this.#steps.value.length) return;
    if (steps.length > MAX_KEPT) this.#from = steps.at(-MAX_KEPT)?.seq ?? this.#from;
    this.#steps.value = steps.slice(-MAX_KEPT);
  }
}
