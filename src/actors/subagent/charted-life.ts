/** An actor that runs a compiled lifecycle, moved by somebody who decides what happens: the chart says whether it may. */
import { createActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject, Snapshot, StateValue } from 'xstate';
import type { CompiledLifecycle, LifecycleSnapshot } from '../../machines/lifecycle.ts';
import { startChild, stopChild } from '../xstate-child.ts';

export interface ChartedLifeOptions<Value extends StateValue, Event extends AnyEventObject> {
  readonly lifecycle: CompiledLifecycle<Value, Event>;
  /** The id of the actor. */
  readonly id: string;
  /** Absent: an actor of its own. */
  readonly parent?: AnyActorRef | undefined;
}

export class ChartedLife<Value extends StateValue, Event extends AnyEventObject> {
  readonly #lifecycle: CompiledLifecycle<Value, Event>;
  readonly #actor: AnyActorRef;
  #snapshot: LifecycleSnapshot<Value>;

  constructor({ lifecycle, id, parent }: ChartedLifeOptions<Value, Event>) {
    // Compiled lifecycles are actor logic; the cast widens their own events to any.
    const logic = lifecycle as unknown as AnyActorLogic;
    this.#lifecycle = lifecycle;
    this.#snapshot = lifecycle.initial;
    this.#actor = parent === undefined ? createActor(logic, { id }).start() : startChild(parent, logic, id);
  }

  get value(): Value {
    return this.#snapshot.value;
  }

  /** The outermost state. */
  get state(): string {
    return this.#snapshot.topLevel;
  }

  matches(value: StateValue): boolean {
    return this.#snapshot.matches(value);
  }

  /** Lets the actor go, in whatever state it is: nobody moves it any more. */
  end(): void {
    const { status } = this.#actor.getSnapshot() as Snapshot<unknown>;
    if (status === 'active') stopChild(this.#actor);
  }

  /** Tells the actor what happened. @returns false, and nothing changes, when the chart knows nothing of it here */
  move(type: Event['type']): boolean {
    const next = this.#lifecycle.next(this.#snapshot, type);
    if (next === undefined) return false;
    this.#snapshot = next;
    this.#actor.send({ type });
    return true;
  }
}
