/** The children of one actor, or the actors without a parent, at one moment, by their place: whoever shows a few of many looks up those alone. */
import { InspectedActor, countUpTo } from './inspected-actor.ts';
import type { Member, Standing } from './inspected-actor.ts';
import type { InspectedStatus } from './inspection-record.ts';

export class InspectedFamily {
  readonly count: number;
  readonly #members: readonly Member[];
  readonly #position: number;

  /** @param members in the order in which they came to the family; the first `count` of them were there at `position` */
  constructor(members: readonly Member[], count: number, position: number) {
    this.#members = members;
    this.count = count;
    this.#position = position;
  }

  /** @param place from 0, below `count` */
  keyAt(place: number): string {
    return this.#member(place).actor.key;
  }

  /** Ascends with the place, and stays the same when older ones are forgotten and places change. */
  orderAt(place: number): number {
    return this.#member(place).from;
  }

  statusAt(place: number): InspectedStatus {
    return this.#standing(place).status;
  }

  /** When it came to its state and status, in milliseconds since the epoch. */
  sinceAt(place: number): number {
    return this.#standing(place).since.t;
  }

  /** -1 for one that is not of this family. */
  placeOf(key: string, order: number): number {
    const place = countUpTo(this.count, (index) => this.#member(index).from < order);
    if (place < this.count && this.#member(place).actor.key === key) return place;
    return this.#members.findIndex(({ actor }, index) => index < this.count && actor.key === key);
  }

  /** Most have come to their end: it is looked at first, since somebody goes through all of many. */
  #standing(place: number): Standing {
    const { standings, standing } = this.#member(place).actor;
    return standing.position <= this.#position ? standing : InspectedActor.at(standings, this.#position);
  }

  #member(place: number): Member {
    return this.#members[place] as Member;
  }
}
