/**
 * Turns what XState tells its inspectors into records.
 *
 * XState tells of an event when it is sent. That it was processed shows in the microsteps that come with the same
 * object; where none comes, in the snapshot that does. What an action throws shows in neither: `sweep`, after the turn,
 * checks the actors that have left an event unprocessed.
 */
import { HANDLED_BY_LOGIC } from '../../machines/inspection-log/taken-words.ts';
import type { AnyActorRef } from 'xstate';
import type { ScheduledTimer } from '../xstate-system.ts';
import { logicOf } from '../xstate-system.ts';
import { InspectedActor } from './recorded-actors.ts';
import { recordAction } from './recorded-actions.ts';
import type { InspectedAction } from './recorded-actions.ts';
import { recordedFacts } from './recorded-facts.ts';
import type { FactsOf } from './recorded-facts.ts';
import { statusOf } from './recorded-values.ts';
import type { SnapshotLike } from './recorded-values.ts';
import { RecordOwner } from './record-owner.ts';
import { RecordWriter } from './record-writer.ts';
import type { Cause, WriterParts } from './record-writer.ts';

/** What XState 5.33 tells, of any type. */
export interface Inspected {
  readonly type: string;
  readonly actorRef: AnyActorRef;
  readonly sourceRef?: AnyActorRef | undefined;
  readonly event?: { readonly type: string };
  readonly snapshot?: SnapshotLike;
  readonly action?: InspectedAction;
  readonly _transitions?: readonly object[];
}

export interface ObserverParts extends WriterParts {
  readonly boot: string;
  readonly factsOf: FactsOf | undefined;
}

export class InspectionObserver {
  readonly #parts: ObserverParts;
  readonly #write: RecordWriter;
  readonly #actors = new Map<AnyActorRef, InspectedActor>();
  /** Whom XState told of last: it tells of one actor several times in a row. */
  #last: InspectedActor | undefined = undefined;
  #events = 0;
  /**
   * Those who were sent an event in this turn, one entry for each. Who processes one leaves at once where none came
   * after, as is the rule: one event is processed within the other.
   */
  readonly #sentTo: InspectedActor[] = [];

  constructor(parts: ObserverParts) {
    this.#parts = parts;
    this.#write = new RecordWriter(parts);
  }

  /** How many living actors are known. */
  get size(): number {
    return this.#actors.size;
  }

  observe(inspected: Inspected): void {
    switch (inspected.type) {
      case '@xstate.event':
        return this.#sent(inspected);
      case '@xstate.microstep':
        return this.#stepped(inspected);
      case '@xstate.snapshot':
        return this.#stood(inspected);
      case '@xstate.action':
        if (inspected.action !== undefined)
          recordAction(this.#of(inspected.actorRef), inspected.action, { ...this.#parts, write: this.#write });
        return;
      default:
      // That an actor was made is told when it starts: before that its state is unknown.
    }
  }

  /** Tells an actor that was there already, and how it stands. One that is known or has ended is not told. */
  meet(ref: AnyActorRef): void {
    const snapshot = snapshotOf(ref);
    if (this.#actors.has(ref) || snapshot === undefined || statusOf(snapshot) !== 'active') return;
    const actor = this.#tell(ref);
    this.#write.snap(actor.owner, snapshot, { machine: actor.machine });
  }

  /** Tells a timer that was set before. */
  meetTimer({ source, id, type, delayMs, startedAt }: ScheduledTimer): void {
    const actor = this.#of(source);
    const name = this.#parts.text.name(id);
    (actor.timers ??= new Map<string, string>()).set(name, this.#parts.text.name(type));
    this.#write.timer(actor.owner, {
      id: name,
      delayMs: Math.max(0, delayMs),
      dueAt: Math.max(0, startedAt + delayMs),
    });
  }

  /** After a turn of the event loop: finds the actors that broke, which XState does not tell inspectors. */
  sweep(): void {
    for (const actor of this.#sentTo.splice(0)) {
      if (!actor.isWaiting || this.#actors.get(actor.ref) !== actor) continue;
      const snapshot = snapshotOf(actor.ref);
      if (snapshot !== undefined && statusOf(snapshot) !== 'active') this.#end(actor, snapshot);
    }
  }

  forget(): void {
    this.#actors.clear();
    this.#sentTo.length = 0;
    this.#last = undefined;
  }

  #sent({ actorRef, sourceRef, event }: Inspected): void {
    if (event === undefined) return;
    const name = event.type;
    if (name === 'xstate.init') return this.#started(actorRef, event);
    const source = sourceRef === undefined ? undefined : this.#known(sourceRef);
    if (source !== undefined) this.#noteSource(source, name);
    const actor =
      this.#known(actorRef) ?? (statusOf(snapshotOf(actorRef)) === 'active' ? this.#tell(actorRef) : undefined);
    const type = this.#parts.text.name(name);
    const number = (this.#events += 1);
    this.#write.event(actor?.owner ?? new RecordOwner(actorRef.sessionId), {
      event,
      number,
      from: sourceRef?.sessionId,
      type,
    });
    // One that has ended processes nothing any more.
    if (actor !== undefined) this.#wait(actor, { event, number, type });
  }

  #wait(
    actor: InspectedActor,
    { event, number, type }: { readonly event: object; readonly number: number; readonly type: string },
  ): void {
    this.#sentTo.push(actor);
    actor.sent(event, number, type);
  }

  /** A sender may have broken just now, or its timer be over. */
  #noteSource(source: InspectedActor, type: string): void {
    if (source.timers !== undefined)
      for (const [id, sends] of source.timers) if (sends === type) source.timers.delete(id);
    if (!type.startsWith('xstate.error.actor.')) return;
    const snapshot = snapshotOf(source.ref);
    if (snapshot?.status === 'error') this.#end(source, snapshot);
  }

  #started(ref: AnyActorRef, event: object): void {
    const known = this.#actors.get(ref);
    const actor = known ?? this.#tell(ref);
    const snapshot = snapshotOf(ref);
    if (!actor.hasStood && snapshot !== undefined) {
      actor.hasStood = true;
      this.#write.snap(actor.owner, snapshot, { machine: actor.machine });
    }
    this.#wait(actor, { event, number: 0, type: 'xstate.init' });
  }

  #stepped({ actorRef, event, snapshot, _transitions: transitions }: Inspected): void {
    if (event === undefined || snapshot === undefined) return;
    const actor = this.#of(actorRef);
    const isSent = this.#process(actor, event);
    const taken = transitions === undefined ? NONE : (actor.machine?.taken(transitions) ?? NONE);
    this.#step(actor, snapshot, {
      cause: isSent ? actor : { number: 0, type: this.#parts.text.name(event.type) },
      taken,
    });
  }

  /** @returns false: the actor has raised it itself */
  #process(actor: InspectedActor, event: object): boolean {
    if (actor.isProcessing(event)) return true;
    const isSent = actor.process(event);
    if (isSent && this.#sentTo.at(-1) === actor) this.#sentTo.pop();
    return isSent;
  }

  #step(
    actor: InspectedActor,
    snapshot: SnapshotLike,
    { cause, taken }: { readonly cause: Cause; readonly taken: readonly string[] },
  ): void {
    const { machine } = actor;
    const isCompiled = machine?.isCompiled === true;
    const context = isCompiled || snapshot.context === actor.context ? undefined : snapshot.context;
    if (context !== undefined) actor.context = context;
    const status = statusOf(snapshot);
    actor.status = status;
    this.#write.step(actor.owner, cause, taken, {
      value: this.#parts.values.value(snapshot.value, isCompiled),
      status,
      context,
    });
  }

  #stood({ actorRef, event, snapshot }: Inspected): void {
    const actor = this.#known(actorRef);
    if (actor === undefined || snapshot === undefined) return;
    if (event !== undefined) {
      const hasStepped = actor.isProcessing(event);
      const isSent = this.#process(actor, event);
      actor.processed();
      // A chart that was not asked, or one whose logic handled the event itself.
      if (!hasStepped && isSent && actor.number !== 0 && actor.machine !== undefined)
        this.#step(actor, snapshot, { cause: actor, taken: actor.machine.hasOwnLogic ? BY_LOGIC : NONE });
    }
    if (statusOf(snapshot) !== 'active') this.#end(actor, snapshot);
  }

  #end(actor: InspectedActor, snapshot: SnapshotLike): void {
    const { machine } = actor;
    const error = snapshot.status === 'error' ? this.#parts.values.failure(snapshot.error) : undefined;
    if (error !== undefined) this.#write.error(actor.owner, error);
    if (error !== undefined || snapshot.output !== undefined || actor.status !== snapshot.status)
      this.#write.snap(actor.owner, snapshot, { machine, error });
    this.#actors.delete(actor.ref);
    if (this.#last === actor) this.#last = undefined;
  }

  #of(ref: AnyActorRef): InspectedActor {
    return this.#known(ref) ?? this.#tell(ref);
  }

  #known(ref: AnyActorRef): InspectedActor | undefined {
    if (this.#last?.ref === ref) return this.#last;
    const actor = this.#actors.get(ref);
    if (actor !== undefined) this.#last = actor;
    return actor;
  }

  /** Its parent first, and its chart before it. */
  #tell(ref: AnyActorRef): InspectedActor {
    const { charts, text, values, factsOf } = this.#parts;
    const { _parent: above } = ref;
    if (above !== undefined && !this.#actors.has(above) && statusOf(snapshotOf(above)) === 'active') this.#tell(above);
    const machine = charts.of(logicOf(ref));
    const actor = new InspectedActor(ref, machine);
    const { owner } = actor;
    this.#actors.set(ref, actor);
    this.#write.machine(owner, machine);
    const snapshot = snapshotOf(ref);
    actor.hasStood = snapshot !== undefined;
    const context = machine?.isCompiled === true ? undefined : snapshot?.context;
    owner.above = above?.sessionId;
    owner.id = text.name(ref.id);
    owner.kind = machine?.kind ?? kindOf(ref, text.name(ref.src));
    owner.chart = machine?.id;
    owner.value =
      machine === undefined || snapshot === undefined ? undefined : values.value(snapshot.value, machine.isCompiled);
    owner.facts = recordedFacts({ ref, context }, text, factsOf);
    const status = statusOf(snapshot);
    // Its end is told by a record of its own.
    this.#write.actor(owner, status === 'error' || status === 'done' ? 'active' : status);
    return actor;
  }
}

/** Shared: records are not edited. */
const NONE: readonly string[] = [];
const BY_LOGIC: readonly string[] = [HANDLED_BY_LOGIC];

function snapshotOf(ref: AnyActorRef): SnapshotLike | undefined {
  return ref.getSnapshot() as SnapshotLike | undefined;
}

/** What has no chart is what its parent calls it. */
function kindOf(ref: AnyActorRef, source: string): string {
  return typeof ref.src !== 'string' || ref.src.startsWith('xstate.invoke.') ? 'actor' : source;
}
