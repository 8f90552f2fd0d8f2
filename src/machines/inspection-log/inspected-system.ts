/** The actors of an inspection log and how they hang together, brought forward record by record. */
import type { ChartDescription } from '../inspection/chart-description.ts';
import { InspectedActor } from './inspected-actor.ts';
import type { Member } from './inspected-actor.ts';
import type { InspectionRecord, InspectionRecordOf } from './inspection-record.ts';
import { RecordBlocks } from './record-blocks.ts';

/** Deeper trees are cut: a caller that walks up may count on an end. */
const MAX_DEPTH = 10_000;
const MAX_CHARTS = 1_000;

export class InspectedSystem {
  readonly blocks = new RecordBlocks();
  /** By key, in the order in which they were first heard of. */
  readonly actors = new Map<string, InspectedActor>();
  readonly charts = new Map<string, ChartDescription>();
  #roots: Member[] = [];
  readonly #asRoots = new Map<InspectedActor, Member>();

  get roots(): readonly Member[] {
    return this.#roots;
  }

  add(record: InspectionRecord): void {
    const position = this.blocks.add(record);
    if (record.k === 'machine') this.#tellChart(record);
    else this.#addTo(this.#actorOf(record, position), record, position);
    this.blocks.close(position);
  }

  #tellChart({ id, chart }: InspectionRecordOf<'machine'>): void {
    if (this.charts.has(id) || this.charts.size < MAX_CHARTS) this.charts.set(id, chart);
  }

  #actorOf(record: InspectionRecord, position: number): InspectedActor {
    const known = this.actors.get(record.a);
    if (known !== undefined) return known;
    const actor = this.#newActor(record.a, record, position);
    if (record.k !== 'actor' || record.parent === undefined || record.parent === record.a)
      this.#addRoot(actor, position);
    return actor;
  }

  #newActor(key: string, { s, t }: InspectionRecord, position: number): InspectedActor {
    const actor = new InspectedActor(key, position, { s, t });
    this.actors.set(key, actor);
    this.blocks.changeStatus(position, undefined, 'active');
    return actor;
  }

  #addRoot(actor: InspectedActor, position: number): void {
    const member: Member = { from: position, until: Infinity, actor };
    this.#roots.push(member);
    this.#asRoots.set(actor, member);
  }

  #addTo(actor: InspectedActor, record: Exclude<InspectionRecord, { readonly k: 'machine' }>, position: number): void {
    actor.records.push(position);
    switch (record.k) {
      case 'actor':
        this.#tell(actor, record, position);
        break;
      case 'event':
        this.#sent(actor, record, position);
        break;
      case 'step':
        this.#stepped(actor, record, position);
        break;
      case 'timer':
        this.blocks.link(causeWithin(actor), position);
        actor.setTimer(record.id, position);
        break;
      case 'cancel':
        this.blocks.link(causeWithin(actor), position);
        actor.clearTimer(record.id);
        break;
      case 'action':
      case 'emit':
      case 'snap':
      case 'error':
        this.blocks.link(causeWithin(actor), position);
    }
    this.#stand(actor, record, position);
  }

  #tell(actor: InspectedActor, record: InspectionRecordOf<'actor'>, position: number): void {
    actor.tell(record, position);
    if (record.parent !== undefined && actor.parent === undefined) this.#adopt(actor, record.parent, record, position);
    actor.lastCause = position;
  }

  #adopt(actor: InspectedActor, key: string, record: InspectionRecord, position: number): void {
    if (key === actor.key) return;
    let parent = this.actors.get(key);
    if (parent === undefined) {
      parent = this.#newActor(key, record, position);
      this.#addRoot(parent, position);
    }
    if (isBelow(parent, actor)) {
      if (!this.#asRoots.has(actor)) this.#addRoot(actor, position);
      return;
    }
    actor.parent = parent;
    actor.childFrom = position;
    parent.children.push({ from: position, until: Infinity, actor });
    this.blocks.link(causeWithin(parent), position);
    const member = this.#asRoots.get(actor);
    if (member === undefined) return;
    member.until = position;
    this.#asRoots.delete(actor);
  }

  /** What has no chart takes no steps, so nothing would ever say that its events were processed. */
  #sent(actor: InspectedActor, { e, from, type }: InspectionRecordOf<'event'>, position: number): void {
    if (actor.told.at(-1)?.chart !== undefined && !actor.isOver) {
      actor.queue.push({ e, position });
      this.blocks.beginFlight(position);
    }
    const sender = from === undefined ? undefined : this.actors.get(from);
    if (sender === undefined) return;
    // What a timer sends is called like the timer.
    this.blocks.link(sender.clearTimer(type) ?? sender.lastCause, position);
  }

  /**
   * XState processes the events of an actor in the order in which they were sent: what was sent before is processed
   * too, or lost.
   */
  #stepped(actor: InspectedActor, { e }: InspectionRecordOf<'step'>, position: number): void {
    const gone = e === undefined ? [] : actor.queue.takeUpTo(e);
    for (const event of gone) this.blocks.endFlight(event.position, position);
    actor.processed = gone.at(-1) ?? actor.processed;
    this.blocks.link(
      actor.processed !== undefined && actor.processed.e === e ? actor.processed.position : actor.lastCause,
      position,
    );
    actor.lastCause = position;
  }

  #stand(actor: InspectedActor, record: InspectionRecord, position: number): void {
    const { status } = actor.state;
    if (!actor.stand(record, position)) return;
    this.blocks.changeStatus(position, status, actor.state.status);
    if (!actor.isOver) return;
    for (const event of actor.queue.takeBefore(Infinity)) this.blocks.endFlight(event.position, position);
    actor.clearTimers();
  }

  /**
   * Forgets the oldest records, and the actors that were over before those that are left and have no children any more.
   */
  forgetOldest(): void {
    const touched = new Set(this.blocks.dropOldest().map(({ a }) => this.actors.get(a)));
    const bereft = new Set<InspectedActor | undefined>();
    for (const actor of touched) {
      if (actor === undefined) continue;
      const { first } = this.blocks;
      for (const { position } of actor.queue.takeBefore(first)) this.blocks.endFlight(position, first);
      actor.forgetBefore(first);
      this.#forgetIfOver(actor, bereft);
    }
    // A parent that was kept for its children may go with the last of them.
    for (const parent of bereft) {
      if (parent === undefined) continue;
      parent.forgetChildren((child) => this.actors.get(child.key) === child);
      this.#forgetIfOver(parent, bereft);
    }
    if (bereft.has(undefined)) this.#roots = this.#roots.filter(({ actor }) => this.actors.get(actor.key) === actor);
    this.#roots = this.#roots.filter(({ until }) => until > this.blocks.first);
  }

  #forgetIfOver(actor: InspectedActor, bereft: Set<InspectedActor | undefined>): void {
    if (!actor.isOver || actor.children.length > 0 || actor.records.length > 0 || this.actors.get(actor.key) !== actor)
      return;
    this.actors.delete(actor.key);
    this.#asRoots.delete(actor);
    // Once more, where it was checked already: a loop over a set sees what is added meanwhile.
    bereft.delete(actor.parent);
    bereft.add(actor.parent);
  }
}

/**
 * What an actor does before it has said its next step comes of the event that it is processing; what it does afterwards
 * comes of its last step.
 */
function causeWithin(actor: InspectedActor): number {
  const processing = actor.queue.first;
  return processing === undefined || processing.position < actor.lastCause ? actor.lastCause : processing.position;
}

function isBelow(one: InspectedActor, other: InspectedActor): boolean {
  let depth = 0;
  for (let next: InspectedActor | undefined = one; next !== undefined; next = next.parent) {
    depth += 1;
    if (next === other || depth > MAX_DEPTH) return true;
  }
  return false;
}
