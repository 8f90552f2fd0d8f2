/**
 * The rows of the tree from one moment to the next: what was found out of the one before is kept as far as it still
 * holds.
 */
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import type { InspectionWorld } from '../../../machines/inspection-log/inspection-world.ts';
import { AllChildren, LINGER_MS, LivingChildren } from './shown-children.ts';
import type { ShownChildren } from './shown-children.ts';
import { TreeRows } from './tree-rows.ts';

export interface TreeCheck {
  readonly timeline: InspectionTimeline;
  readonly world: InspectionWorld;
  readonly isLive: boolean;
  /** Milliseconds since the epoch: of the moment that is shown, or now. */
  readonly time: number;
  readonly isHiding: boolean;
  /** What the user opened or closed, by key. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** Has a row although it is over, as have those above it. */
  readonly chosen: string | undefined;
}

/** With more roots than this, none of them is open by itself. */
const FEW_ROOTS = 50;
/** With more changes than this, checking everything is quicker than at what has changed. */
const MANY_RECORDS = 5_000;
const MANY_ENDED = 200;
/** Deeper ones are not followed upwards. */
const MOST_LEVELS = 10_000;

export class TreeModel {
  #check: TreeCheck | undefined;
  #living = new Map<string | undefined, LivingChildren>();
  /** Keys of those that are over and have rows all the same. */
  #ended = new Set<string>();
  #seen = 0;
  #first = 0;

  rows(check: TreeCheck): TreeRows {
    if (check.isHiding) this.#bringUp(check);
    this.#check = check;
    const { world } = check;
    const above = check.chosen === undefined ? [] : lineOf(world, check.chosen);
    const childrenOf = (key: string | undefined): ShownChildren =>
      check.isHiding ? this.#livingOf(key, check) : new AllChildren(world.family(key));
    if (check.isHiding) for (const key of above) this.#show(key, check);
    return new TreeRows({ world, open: openOf(check), childrenOf });
  }

  #livingOf(key: string | undefined, { world, time }: TreeCheck): LivingChildren {
    const family = world.family(key);
    const living = this.#living.get(key) ?? new LivingChildren((each) => this.#ended.add(each));
    this.#living.set(key, living);
    living.grow(family, time);
    return living;
  }

  #show(key: string, check: TreeCheck): void {
    const actor = check.world.actor(key);
    if (actor === undefined) return;
    this.#livingOf(actor.parent, check).show(key, check.world.orderOf(key) ?? -1);
    if (actor.status !== 'active') this.#ended.add(key);
  }

  #bringUp(check: TreeCheck): void {
    const { timeline, world } = check;
    const last = world.moment?.s ?? 0;
    const isSameMoment =
      this.#check?.timeline === timeline &&
      this.#check.isHiding &&
      this.#check.isLive === check.isLive &&
      this.#seen === last;
    // Where the oldest were forgotten, so were some of the actors.
    const goesOn =
      this.#check?.timeline === timeline &&
      this.#check.isHiding &&
      this.#check.isLive &&
      check.isLive &&
      this.#first === (timeline.first?.s ?? 0) &&
      this.#seen <= last;
    if (!(goesOn ? this.#follow(check) : isSameMoment)) {
      this.#living = new Map();
      this.#ended = new Set();
    }
    this.#seen = last;
    this.#first = timeline.first?.s ?? 0;
  }

  /** @returns false: so much has happened that everything has to be checked again */
  #follow(check: TreeCheck): boolean {
    const records = check.timeline.records({ from: this.#seen + 1, limit: MANY_RECORDS });
    if (records.length === MANY_RECORDS) return false;
    for (const record of records)
      if (record.k === 'error' || ('status' in record && record.status !== 'active')) this.#ended.add(record.a);
    const chosen = new Set(check.chosen === undefined ? [] : lineOf(check.world, check.chosen));
    const gone = [...this.#ended].filter(
      (key) => check.time - (check.world.actor(key)?.since.t ?? 0) >= LINGER_MS && !chosen.has(key),
    );
    if (gone.length > MANY_ENDED) return false;
    for (const key of gone) {
      this.#drop(key, check.world);
      this.#ended.delete(key);
    }
    return true;
  }

  #drop(key: string, world: InspectionWorld): void {
    const actor = world.actor(key);
    if (actor !== undefined && actor.status !== 'active')
      this.#living.get(actor.parent)?.drop(world.orderOf(key) ?? -1);
  }
}

/** The actor and all above it, from the bottom up. */
export function lineOf(world: InspectionWorld, key: string): readonly string[] {
  const line: string[] = [];
  for (
    let actor = world.actor(key);
    actor !== undefined && line.length < MOST_LEVELS;
    actor = actor.parent === undefined ? undefined : world.actor(actor.parent)
  )
    line.push(actor.key);
  return line;
}

function openOf({ world, opened }: TreeCheck): readonly string[] {
  const roots = world.family();
  const open = [...opened].filter(([, isOpen]) => isOpen).map(([key]) => key);
  for (let place = 0; place < roots.count && roots.count <= FEW_ROOTS; place += 1)
    if (!opened.has(roots.keyAt(place))) open.push(roots.keyAt(place));
  return open;
}
