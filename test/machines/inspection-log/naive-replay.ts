/** What the timeline says, told again in the plainest way: one moment after the other, each a whole copy. */
import type { InspectedActorState } from '../../../src/machines/inspection-log/inspection-world.ts';
import { outcomeOf, reasonIn } from '../../../src/machines/inspection-log/actor-outcome.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { HANDLED_BY_LOGIC } from '../../../src/machines/inspection-log/taken-words.ts';

type Plain = { -readonly [Name in keyof InspectedActorState]: InspectedActorState[Name] };

export interface NaiveWorld {
  readonly actors: ReadonlyMap<string, InspectedActorState>;
  /** By parent; the empty text stands for none. */
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly inFlight: readonly number[];
}

export class NaiveReplay {
  readonly #actors = new Map<string, Plain>();
  readonly #children = new Map<string, string[]>([['', []]]);
  #waiting: { readonly s: number; readonly e: number; readonly a: string }[] = [];

  get world(): NaiveWorld {
    const actors = [...this.#actors].map(
      ([key, actor]) => [key, { ...actor, childCount: this.#children.get(key)?.length ?? 0 }] as const,
    );
    return {
      actors: new Map(actors),
      children: new Map([...this.#children].map(([key, children]) => [key, [...children]])),
      inFlight: this.#waiting.map(({ s }) => s),
    };
  }

  add(record: InspectionRecord): void {
    if (record.k === 'machine') return;
    const actor = this.#actors.get(record.a) ?? this.#heardOf(record.a, record);
    if (record.k === 'actor') {
      actor.id = record.id;
      if (record.kind !== undefined) actor.kind = record.kind;
      if (record.chart !== undefined) actor.chart = record.chart;
      if (record.facts !== undefined) actor.facts = { ...actor.facts, ...record.facts };
      if (record.parent !== undefined && actor.parent === undefined) this.#adopt(actor, record.parent, record);
    }
    if (record.k === 'event' && actor.chart !== undefined && actor.status === 'active')
      this.#waiting.push({ s: record.s, e: record.e, a: record.a });
    if (record.k === 'step') this.#step(record.a, record.e);
    this.#stand(actor, record);
    if (actor.status !== 'active') this.#waiting = this.#waiting.filter(({ a }) => a !== record.a);
  }

  #heardOf(key: string, { s, t }: InspectionRecord): Plain {
    const actor: Plain = { key, id: key, status: 'active', from: { s, t }, since: { s, t }, childCount: 0 };
    this.#actors.set(key, actor);
    this.#children.set(key, []);
    this.#children.get('')?.push(key);
    return actor;
  }

  #adopt(actor: Plain, parent: string, record: InspectionRecord): void {
    if (parent === actor.key) return;
    if (!this.#actors.has(parent)) this.#heardOf(parent, record);
    for (let next: string | undefined = parent; next !== undefined; next = this.#actors.get(next)?.parent)
      if (next === actor.key) return;
    actor.parent = parent;
    this.#children.set(
      '',
      (this.#children.get('') ?? []).filter((key) => key !== actor.key),
    );
    this.#children.get(parent)?.push(actor.key);
  }

  #step(a: string, e: number | undefined): void {
    const own = this.#waiting.filter((event) => event.a === a);
    const index = own.findIndex((event) => event.e === e);
    const gone = new Set(own.slice(0, index + 1));
    this.#waiting = this.#waiting.filter((event) => !gone.has(event));
  }

  #stand(actor: Plain, record: InspectionRecord): void {
    if (record.k !== 'actor' && record.k !== 'step' && record.k !== 'snap' && record.k !== 'error') return;
    const before = JSON.stringify([actor.value, actor.status]);
    actor.status = record.k === 'error' ? 'error' : record.status;
    if (record.k !== 'error' && record.value !== undefined) actor.value = record.value;
    const hasMoved = JSON.stringify([actor.value, actor.status]) !== before;
    if (hasMoved) actor.since = { s: record.s, t: record.t };
    const output = record.k === 'snap' ? record.output : undefined;
    const ended = actor.outcome;
    if (hasMoved || output !== undefined) {
      actor.outcome = outcomeOf({ status: actor.status, value: actor.value, output });
      if (actor.outcome === undefined) delete actor.outcome;
    }
    if (record.k === 'step' && record.taken.length > 0 && record.taken[0] !== HANDLED_BY_LOGIC)
      actor.lastTransition = { s: record.s, t: record.t, type: record.type, taken: record.taken };
    if (record.k === 'error') actor.error = { message: record.message, code: record.code };
    else if (record.k === 'snap' && record.error !== undefined) actor.error = record.error;
    else if (actor.outcome !== undefined && actor.outcome !== 'completed' && reasonIn(output) !== undefined)
      actor.error = reasonIn(output);
    else if (actor.outcome !== ended) actor.error = undefined;
  }
}
