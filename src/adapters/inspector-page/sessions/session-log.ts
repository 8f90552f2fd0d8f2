/** The events of a session that the page has read: all from one number on to the newest, as far as they can be read. Older ones come when somebody asks for them. */
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { InspectedEvents } from '../../../actors/inspection/inspection-source.ts';
import type { SessionEvent } from '../../../machines/session/session-event.ts';
import { server } from '../model/transport.ts';

export type ReadEvents = (sessionId: string, from: number, limit: number) => Promise<InspectedEvents>;

const AT_FIRST = 400;
const PAGE = 500;
/** Further behind, the newest are read anew. */
const MAX_BEHIND = 5_000;
/** The oldest are let go of, beyond that. */
const MAX_KEPT = 12_000;

export class SessionLog {
  readonly #sessionId: string;
  readonly #read: ReadEvents;
  /** From this number on they were read. Damage may have left some of them out. */
  #from = 0;
  readonly #events = signal<readonly SessionEvent[]>([]);

  constructor(sessionId: string, read: ReadEvents = server.events) {
    this.#sessionId = sessionId;
    this.#read = read;
  }

  get events(): ReadonlySignal<readonly SessionEvent[]> {
    return this.#events;
  }

  /** Whether there are older ones that can still be read here. */
  get hasEarlier(): boolean {
    return this.#from > 1;
  }

  /** @param head number of the newest event */
  async readTo(head: number): Promise<void> {
    const last = this.#events.value.at(-1)?.seq ?? 0;
    // A log that has become shorter is another one.
    if (head < last || head - last > MAX_BEHIND || last === 0) return this.#begin(head);
    this.#keep([...this.#events.value, ...(await this.#pages(last + 1, head))]);
  }

  async readEarlier(): Promise<void> {
    const first = this.#from;
    if (first <= 1) return;
    const from = Math.max(1, first - AT_FIRST);
    const older = await this.#pages(from, first - 1);
    if (this.#from !== first) return;
    this.#from = from;
    this.#events.value = [...older, ...this.#events.value];
  }

  async #begin(head: number): Promise<void> {
    const from = Math.max(1, head - AT_FIRST + 1);
    const events = await this.#pages(from, head);
    this.#from = from;
    this.#events.value = events;
  }

  /** From one number to another, both included, as far as they can be had. */
  async #pages(from: number, to: number): Promise<readonly SessionEvent[]> {
    const found: SessionEvent[] = [];
    for (let next = from; next <= to; ) {
      const { events } = await this.#read(this.#sessionId, next, Math.min(PAGE, to - next + 1));
      const last = events.at(-1)?.seq;
      if (last === undefined || last < next) break;
      // Where damage took events away, later ones are told in their place.
      found.push(...events.filter(({ seq }) => seq <= to));
      next = last + 1;
    }
    return found;
  }

  #keep(events: readonly SessionEvent[]): void {
    if (events.length === this.#events.value.length) return;
    if (events.length > MAX_KEPT) this.#from = events.at(-MAX_KEPT)?.seq ?? this.#from;
    this.#events.value = events.slice(-MAX_KEPT);
  }
}
