/**
 * Sees every transition that is taken in a chart while a test watches. Compiled charts are watched where their table is
 * asked, by actors and by whoever has none; those that XState interprets, through its inspection.
 */
import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyStateMachine, InspectionEvent, StateValue } from 'xstate';
import { idsOfTaken, machineOf } from '../../src/machines/inspection/describe-chart.ts';
import type { ChartSource } from '../../src/machines/inspection/describe-chart.ts';
import type { MachineSnapshotLike } from '../../src/machines/xstate-internals.ts';
import { takenIds } from './chart-model-ids.ts';

/** One actor that has the life of the chart. */
export interface WatchedLife {
  /** Of the actor; empty for whoever uses the chart without one. */
  readonly id: string;
  /** Ids of the transitions that were taken, in order. */
  readonly taken: readonly string[];
  readonly value: StateValue;
  /** Whether an event would be taken now. */
  can(event: string): boolean;
}

export interface ChartWatch {
  /** In the order in which they began. Nobody is seen who began before the watch. */
  readonly lives: readonly WatchedLife[];
  /** Puts everything back. */
  end(): void;
}

let isModelling = false;

/** Models ask the same charts; what they do is nobody's life. */
export function whileModelling<Result>(work: () => Result): Result {
  const before = isModelling;
  isModelling = true;
  try {
    return work();
  } finally {
    isModelling = before;
  }
}

type Method = (...values: readonly unknown[]) => unknown;
type Methods = Record<'transition' | 'getInitialSnapshot' | 'next', Method>;

/** Watches all that live by a compiled chart, until it is ended. */
export function watchChart(chart: { readonly machine: AnyStateMachine }): ChartWatch {
  const { machine } = chart;
  const lives = new Map<object, CompiledLife>();
  const lifeOf = (actor: object, id: string, snapshot: unknown): CompiledLife => {
    const life = lives.get(actor) ?? new CompiledLife(machine, id, (snapshot as MachineSnapshotLike).value);
    lives.set(actor, life);
    return life;
  };
  // The logic of an actor may be a copy of these functions: they are replaced before it is made.
  const logic = chart as unknown as Methods;
  const { transition, getInitialSnapshot, next } = logic;
  logic.getInitialSnapshot = (...given) => {
    const snapshot = getInitialSnapshot(...given);
    const { self } = given[0] as Partial<AnyActorScope>;
    // Children that are built directly are known from their first transition on.
    if (self !== undefined) lifeOf(self, self.id, snapshot);
    return snapshot;
  };
  logic.transition = (...given) => {
    const [before, event, { self }] = given as readonly [MachineSnapshotLike, AnyEventObject, AnyActorScope];
    return lifeOf(self, self.id, before).move(before, event, () => transition(...given));
  };
  logic.next = (...given) => {
    const [before, type] = given as readonly [MachineSnapshotLike, string];
    return isModelling ? next(...given) : lifeOf(lives, '', before).move(before, { type }, () => next(...given));
  };
  return {
    get lives() {
      return [...lives.values()];
    },
    end: () => void Object.assign(logic, { transition, getInitialSnapshot, next }),
  };
}

class CompiledLife implements WatchedLife {
  readonly id: string;
  readonly taken: string[] = [];
  readonly #machine: AnyStateMachine;
  value: StateValue;

  constructor(machine: AnyStateMachine, id: string, value: StateValue) {
    this.#machine = machine;
    this.id = id;
    this.value = value;
  }

  can(event: string): boolean {
    return this.#ids(this.value, { type: event }).length > 0;
  }

  move(before: MachineSnapshotLike, event: AnyEventObject, work: () => unknown): unknown {
    const taken = this.#ids(before.value, event);
    const after = work() as MachineSnapshotLike | undefined;
    // A compiled chart answers with nothing for what it does not take.
    if (after === undefined || taken.length === 0) return after;
    this.taken.push(...taken);
    this.value = after.value;
    return after;
  }

  #ids(value: StateValue, event: AnyEventObject): readonly string[] {
    return whileModelling(() => takenIds(this.#machine, this.#machine.resolveState({ value, context: {} }), event));
  }
}

export interface InterpretedWatch extends Pick<ChartWatch, 'lives'> {
  /** To be given to the system of the actors that are to be seen. */
  readonly inspect: (event: InspectionEvent) => void;
}

/**
 * Watches all actors of an inspected system that live by a chart which XState interprets, whatever actors it was
 * provided with.
 */
export function watchInterpreted(source: ChartSource): InterpretedWatch {
  const { id } = machineOf(source);
  const lives = new Map<object, InterpretedLife>();
  const inspect = (event: InspectionEvent): void => {
    const actor = event.actorRef as AnyActorRef & { readonly logic?: { readonly id?: string } };
    if (actor.logic?.id !== id) return;
    const life = lives.get(actor) ?? new InterpretedLife(actor);
    lives.set(actor, life);
    if (event.type === '@xstate.microstep') life.taken.push(...idsOfTaken(event._transitions));
  };
  return {
    get lives() {
      return [...lives.values()];
    },
    inspect,
  };
}

class InterpretedLife implements WatchedLife {
  readonly taken: string[] = [];
  readonly #actor: AnyActorRef;

  constructor(actor: AnyActorRef) {
    this.#actor = actor;
  }

  get id(): string {
    return this.#actor.id;
  }

  get value(): StateValue {
    return (this.#actor.getSnapshot() as { readonly value: StateValue }).value;
  }

  can(event: string): boolean {
    return whileModelling(() =>
      (this.#actor.getSnapshot() as { can(given: AnyEventObject): boolean }).can({ type: event }),
    );
  }
}

/** The next that lives by a watched chart, as the real thing of a model. */
export class NextLife {
  readonly #watch: Pick<ChartWatch, 'lives'>;
  readonly #place: number;

  constructor(watch: Pick<ChartWatch, 'lives'>) {
    this.#watch = watch;
    this.#place = watch.lives.length;
  }

  get #life(): WatchedLife {
    const life = this.#watch.lives[this.#place];
    if (life === undefined) throw new Error('nothing lives by the chart');
    return life;
  }

  state(): StateValue {
    return this.#life.value;
  }

  taken(): readonly string[] {
    return this.#life.taken;
  }

  can(event: string): boolean {
    return this.#life.can(event);
  }
}
