/**
 * Whom records are about, and how it was when it was told. Many records share one, and it outlives the actor: it keeps
 * nothing of the program.
 */
import type { InspectedValue } from '../../machines/inspection-log/inspection-record.ts';

/**
 * Its fields are assigned one by one: V8 sizes objects by counting those, and one of these is kept for each actor that
 * is told.
 */
export class RecordOwner {
  /** XState's, unique in a process: the key of an actor is made of it when a reader asks. */
  declare readonly sessionId: string;
  /** Session id of the actor that made it. */
  declare above: string | undefined;
  declare id: string;
  declare kind: string | undefined;
  /** Id of its chart. */
  declare chart: string | undefined;
  /**
   * How it stood when it was told. Once that record has fallen out: after the newest one about it that has fallen out
   * too.
   */
  declare value: InspectedValue | undefined;
  declare facts: Readonly<Record<string, string>> | undefined;
  /**
   * Since when it has stood so, in milliseconds since the epoch. Undefined as long as it is in no list of
   * `ActiveOwners`.
   */
  declare standsSince: number | undefined;
  /** Its neighbors in that list. */
  declare before: RecordOwner | undefined;
  declare after: RecordOwner | undefined;

  /** One that nothing is known of yet. */
  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.above = undefined;
    this.id = '';
    this.kind = undefined;
    this.chart = undefined;
    this.value = undefined;
    this.facts = undefined;
    this.standsSince = undefined;
    this.before = undefined;
    this.after = undefined;
  }
}

/** A list that costs the same to join and to leave at ten and at a hundred thousand, and allocates nothing for it. */
export class ActiveOwners implements Iterable<RecordOwner> {
  #first: RecordOwner | undefined = undefined;
  #last: RecordOwner | undefined = undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** At the end of the list, unless it is in it. */
  add(owner: RecordOwner, since: number): void {
    if (owner.standsSince === undefined) this.#append(owner);
    owner.standsSince = since;
  }

  /** One that is not in the list is left alone. */
  delete(owner: RecordOwner): void {
    if (owner.standsSince === undefined) return;
    const { before, after } = owner;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    owner.standsSince = undefined;
    owner.before = undefined;
    owner.after = undefined;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Iterator<RecordOwner> {
    for (let owner = this.#first; owner !== undefined; owner = owner.after) yield owner;
  }

  #append(owner: RecordOwner): void {
    owner.before = this.#last;
    if (this.#last === undefined) this.#first = owner;
    else this.#last.after = owner;
    this.#last = owner;
    this.#size += 1;
  }
}
