/**
 * An actor that runs a compiled lifecycle, moved by its owner: the owner decides what happens, the chart says whether
 * it may.
 */
import { createActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, AnyEventObject, StateValue } from 'xstate';
import type { CompiledLifecycle, LifecycleSnapshot } from '../machines/lifecycle.ts';
import { startChild, stopChild } from './xstate-child.ts';

export interface ChartedLifeOptions<Value extends StateValue, Event extends AnyEventObject> {
  readonly lifecycle: CompiledLifecycle<Value, Event>;
  /** The id of the actor. */
  readonly id: string;
  /** Absent: an actor of its own. */
  readonly parent?: AnyActorRef | undefined;
}

export class ChartedLife<Value extends StateValue, Event extends AnyEventObject> {
  readonly #actor: AnyActorRef;

  constructor({ lifecycle, id, parent }: ChartedLifeOptions<Value, Event>) {
    // Compiled lifecycles are actor logic; the cast widens their own events to any.
    const logic = lifecycle as unknown as AnyActorLogic;
    this.#actor = parent === undefined ? createActor(logic, { id }).start() : startChild(parent, logic, id);
  }

  /** The actor's own: there is no other record of where it is. */
  get #snapshot(): LifecycleSnapshot<Value> {
    return this.#actor.getSnapshot() as LifecycleSnapshot<Value>;
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

  /** Lets the actor go, in whatever state it is: no event moves it any more. */
  end(): void {
    if (this.#snapshot.status === 'active') stopChild(this.#actor);
  }

  /** Tells the actor what happened. @returns false, and nothing changes, when the chart knows nothing of it here */
  move(type: Event['type']): boolean {
    const event = { type };
    if (!this.#snapshot.can(event)) return false;
    this.#actor.send(event);
    return true;
  }
}
