/** The events that wait for one actor, the oldest first. Taking one costs the same however many wait. */

export interface WaitingEvent {
  /** Number of the event. One object sent twice has one number. */
  readonly e: number;
  readonly position: number;
}

const FEW = 16;

export class WaitingEvents {
  #events: WaitingEvent[] = [];
  #head = 0;
  /** How often each number waits, while more than a few do: so that what does not wait is not searched for. */
  #counts: Map<number, number> | undefined;

  get first(): WaitingEvent | undefined {
    return this.#events[this.#head];
  }

  push(event: WaitingEvent): void {
    this.#events.push(event);
    if (this.#counts !== undefined) this.#count(event, 1);
    else if (this.#events.length - this.#head > FEW) {
      this.#counts = new Map();
      for (const each of this.#events.slice(this.#head)) this.#count(each, 1);
    }
  }

  /** The first with this number, and all before it; none, where it does not wait. */
  takeUpTo(e: number): readonly WaitingEvent[] {
    if (this.#counts !== undefined && !this.#counts.has(e)) return [];
    for (let index = this.#head; index < this.#events.length; index += 1)
      if (this.#events[index]?.e === e) return this.#take(index + 1);
    return [];
  }

  /** Those that were sent before `position`. */
  takeBefore(position: number): readonly WaitingEvent[] {
    let end = this.#head;
    while ((this.#events[end]?.position ?? Infinity) < position) end += 1;
    return this.#take(end);
  }

  #take(end: number): readonly WaitingEvent[] {
    const taken = this.#events.slice(this.#head, end);
    this.#head = end;
    if (this.#counts !== undefined) for (const event of taken) this.#count(event, -1);
    if (this.#head === this.#events.length) {
      this.#events = [];
      this.#head = 0;
      this.#counts = undefined;
    } else if (this.#head > 1_000 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  #count({ e }: WaitingEvent, by: number): void {
    const count = (this.#counts?.get(e) ?? 0) + by;
    if (count > 0) this.#counts?.set(e, count);
    else this.#counts?.delete(e);
  }
}
