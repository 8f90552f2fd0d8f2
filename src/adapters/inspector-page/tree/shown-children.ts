/**
 * Which children of one actor have rows: all, or those that are not over, with those that ended just now and those that
 * have to be seen.
 */
import { countUpTo } from '../../../machines/inspection-log/inspected-actor.ts';
import type { InspectedFamily } from '../../../machines/inspection-log/inspected-family.ts';

export interface ShownChildren {
  readonly count: number;
  keyAt(place: number): string;
  /** @param order of the actor in the family. @returns -1: it has no row */
  placeOf(key: string, order: number): number;
}

/** What has ended stays for so long, so that one can see how it ended, in milliseconds. */
export const LINGER_MS = 4_000;

export class AllChildren implements ShownChildren {
  readonly count: number;
  readonly #family: InspectedFamily;

  constructor(family: InspectedFamily) {
    this.#family = family;
    this.count = family.count;
  }

  keyAt(place: number): string {
    return this.#family.keyAt(place);
  }

  placeOf(key: string, order: number): number {
    return this.#family.placeOf(key, order);
  }
}

/** In the order of the family. It is made once, and then told what has changed: checking all of many takes long. */
export class LivingChildren implements ShownChildren {
  readonly #keys: string[] = [];
  /** Of each, its order in the family. */
  readonly #orders: number[] = [];
  /** How many of the family were checked. */
  #seen = 0;

  readonly #onLingering: (key: string) => void;

  /** @param onLingering hears of each that is over and has a row all the same, since it ended just now */
  constructor(onLingering: (key: string) => void) {
    this.#onLingering = onLingering;
  }

  get count(): number {
    return this.#keys.length;
  }

  keyAt(place: number): string {
    return this.#keys[place] as string;
  }

  placeOf(key: string, order: number): number {
    const place = placeOfOrder(this.#orders, order);
    return this.#keys[place] === key ? place : this.#keys.indexOf(key);
  }

  /** Checks those that came since. */
  grow(family: InspectedFamily, time: number): void {
    family.eachFrom(this.#seen, time - LINGER_MS, (place, isOver) => {
      const order = family.orderAt(place);
      if (isOver) this.#onLingering(family.keyAt(place));
      // One that was made to be seen may be there already.
      if (this.#orders.at(-1) === order) return;
      this.#keys.push(family.keyAt(place));
      this.#orders.push(order);
    });
    this.#seen = family.count;
  }

  /** Gives a row to one that has none. */
  show(key: string, order: number): void {
    const place = placeOfOrder(this.#orders, order);
    if (this.#orders[place] === order) return;
    this.#keys.splice(place, 0, key);
    this.#orders.splice(place, 0, order);
  }

  drop(order: number): void {
    const place = placeOfOrder(this.#orders, order);
    if (this.#orders[place] !== order) return;
    this.#keys.splice(place, 1);
    this.#orders.splice(place, 1);
  }
}

/** The first place with this order or a greater one. */
function placeOfOrder(orders: readonly number[], order: number): number {
  return countUpTo(orders.length, (place) => (orders[place] as number) < order);
}
