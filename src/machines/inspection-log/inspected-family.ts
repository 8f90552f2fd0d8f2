/**
 * The children of one actor, or the actors without a parent, at one moment, by their place: a view that shows a few of
 * many looks up those alone.
 */
import { InspectedActor, countUpTo } from './inspected-actor.ts';
import type { Member } from './inspected-actor.ts';

export class InspectedFamily {
  readonly count: number;
  readonly #members: readonly Member[];
  readonly #position: number;

  /**
   * @param members in the order in which they came to the family; the first `count` of them were there at `position`
   */
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

  /**
   * Goes through those from one place on that are not over, or came to their end after `time`, in milliseconds since
   * the epoch.
   *
   * @param tell hears their places, and whether they are over
   */
  eachFrom(from: number, time: number, tell: (place: number, isOver: boolean) => void): void {
    for (let place = from; place < this.count; place += 1) {
      const { actor } = this.#member(place);
      const isOver = actor.isRevived
        ? InspectedActor.at(actor.states, this.#position).status !== 'active'
        : actor.over.from <= this.#position;
      if (!isOver) tell(place, false);
      else if ((actor.isRevived ? InspectedActor.at(actor.states, this.#position).since.t : actor.over.t) > time)
        tell(place, true);
    }
  }

  /** -1 for one that is not of this family. */
  placeOf(key: string, order: number): number {
    const place = countUpTo(this.count, (index) => this.#member(index).from < order);
    if (place < this.count && this.#member(place).actor.key === key) return place;
    return this.#members.findIndex(({ actor }, index) => index < this.count && actor.key === key);
  }

  #member(place: number): Member {
    return this.#members[place] as Member;
  }
}
