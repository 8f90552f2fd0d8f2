/**
 * All actors as they were at one moment of a log. It is looked up where it is asked for: making one costs nothing,
 * however many actors there are.
 */
import { InspectedActor, countUpTo } from './inspected-actor.ts';
import type { InspectedMoment, Member, InspectedState } from './inspected-actor.ts';
import { InspectedFamily } from './inspected-family.ts';
import type { InspectedStatus, InspectedValue, InspectionRecord } from './inspection-record.ts';
import type { InspectedSystem } from './inspected-system.ts';
import type { InspectionCounts } from './record-blocks.ts';

const PAGE = 1_000;

export interface InspectedActorState {
  readonly key: string;
  /** Key of its parent. */
  readonly parent?: string | undefined;
  readonly id: string;
  readonly kind?: string | undefined;
  /** Id of its chart. */
  readonly chart?: string | undefined;
  readonly facts?: Readonly<Record<string, string>> | undefined;
  /** Absent: it is no chart, or nothing has told it. */
  readonly value?: InspectedValue | undefined;
  readonly status: InspectedStatus;
  /** How it ended. Absent: it is not over. */
  readonly outcome?: InspectedState['outcome'];
  /** When it was first heard of: made, unless that was before the log begins. */
  readonly from: InspectedMoment;
  /** When it came to this value and status. */
  readonly since: InspectedMoment;
  readonly lastTransition?: InspectedState['last'] | undefined;
  readonly error?: InspectedState['error'];
  readonly childCount: number;
}

interface Page {
  /** How many to leave out. */
  readonly from?: number | undefined;
  /** At most, 1,000 by default. */
  readonly limit?: number | undefined;
}

interface ActorFilter extends Page {
  /** Upper and lower case alike, anywhere in its key, id, kind, chart, facts or state. */
  readonly text?: string | undefined;
  readonly status?: InspectedStatus | 'over' | undefined;
}

export class InspectionWorld {
  /** Of the last record that it takes into account. Absent: nothing has happened, or nothing of it is remembered. */
  readonly moment: InspectedMoment | undefined;
  readonly #system: InspectedSystem;
  readonly #position: number;

  constructor(system: InspectedSystem, position: number) {
    this.#system = system;
    this.#position = position;
    const record = system.blocks.record(position);
    this.moment = record === undefined ? undefined : { s: record.s, t: record.t };
  }

  get counts(): InspectionCounts {
    return this.#system.blocks.countsAt(this.#position);
  }

  actor(key: string): InspectedActorState | undefined {
    const actor = this.#system.actors.get(key);
    return actor === undefined || actor.from > this.#position ? undefined : this.#stateOf(actor);
  }

  /** Actors without a parent, in the order in which they were first heard of. */
  roots(page: Page = {}): readonly InspectedActorState[] {
    return this.#paged(
      this.#system.roots.filter(({ from, until }) => from <= this.#position && until > this.#position),
      page,
    );
  }

  /** In the order in which they were made. Of an unknown actor: none. */
  children(key: string, { from = 0, limit = PAGE }: Page = {}): readonly InspectedActorState[] {
    const members = this.#system.actors.get(key)?.children ?? [];
    return this.#paged(members.slice(from, Math.min(from + limit, this.#countOf(members))), { limit });
  }

  /**
   * The same by their place, for a view that shows a few of many: children of `key`, or the actors without a parent.
   */
  family(key?: string): InspectedFamily {
    if (key !== undefined) {
      const members = this.#system.actors.get(key)?.children ?? [];
      return new InspectedFamily(members, this.#countOf(members), this.#position);
    }
    const members = this.#system.roots.filter(({ from, until }) => from <= this.#position && until > this.#position);
    return new InspectedFamily(members, members.length, this.#position);
  }

  /** The order of an actor in its family. Undefined: it is not there at this moment. */
  orderOf(key: string): number | undefined {
    const actor = this.#system.actors.get(key);
    if (actor === undefined || actor.from > this.#position) return undefined;
    return actor.parent !== undefined && actor.childFrom <= this.#position ? actor.childFrom : actor.from;
  }

  /** In the order in which they were first heard of. */
  actors({ text = '', status, from = 0, limit = PAGE }: ActorFilter = {}): readonly InspectedActorState[] {
    const wanted = text.toLowerCase();
    const found: InspectedActorState[] = [];
    let left = from;
    for (const actor of this.#system.actors.values()) {
      if (actor.from > this.#position || found.length >= limit) break;
      if (!this.#fits(actor, wanted, status)) continue;
      if (left > 0) left -= 1;
      else found.push(this.#stateOf(actor));
    }
    return found;
  }

  /** Events that were sent to actors with charts and not processed, the oldest first. */
  inFlight(limit = PAGE): readonly InspectionRecord[] {
    return this.#system.blocks.inFlightAt(this.#position, limit);
  }

  #fits(actor: InspectedActor, text: string, status: ActorFilter['status']): boolean {
    const state = InspectedActor.at(actor.states, this.#position);
    if (status === 'over' ? state.status === 'active' : status !== undefined && state.status !== status) return false;
    if (text === '' || InspectedActor.at(actor.told, this.#position).text.includes(text)) return true;
    const { value } = state;
    return (
      value !== undefined && (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase().includes(text)
    );
  }

  #paged(members: readonly Member[], { from = 0, limit = PAGE }: Page): readonly InspectedActorState[] {
    return members.slice(from, from + limit).map(({ actor }) => this.#stateOf(actor));
  }

  #countOf(members: readonly Member[]): number {
    return countUpTo(members.length, (index) => (members[index] as Member).from <= this.#position);
  }

  #stateOf(actor: InspectedActor): InspectedActorState {
    const { id, kind, chart, facts } = InspectedActor.at(actor.told, this.#position);
    const { value, status, outcome, since, last, error } = InspectedActor.at(actor.states, this.#position);
    const isChild = actor.parent !== undefined && actor.childFrom <= this.#position;
    return {
      key: actor.key,
      parent: isChild ? actor.parent?.key : undefined,
      id,
      kind,
      chart,
      facts,
      value,
      status,
      outcome,
      from: actor.begun,
      since,
      lastTransition: last,
      error,
      childCount: this.#countOf(actor.children),
    };
  }
}
