/** How a test drives a real thing that lives by a chart. */
import type { AnyStateMachine, EventFromLogic, SnapshotFrom } from 'xstate';
import type { Clock } from '../actors/clock/clock.ts';

/** What surrounds the real thing: time that stands still until the test moves it, and what it calls. */
export interface ChartWorld {
  /** Its clock, which satisfies XState's too. What it has armed is gone when it crashes. */
  readonly clock: Clock;
  /**
   * Stands where the real thing calls what the chart invokes under this name. It settles when the plan says so: answers,
   * fails, does its work and loses the answer, or answers too late.
   * @param work what is done when the call goes through; it is given an answer of `outputs` and returns the real one,
   *   which the chart is told. Default: the answer that it is given
   */
  call<Output>(name: string, work?: (planned: Output) => Output | Promise<Output>): Promise<Output>;
}

type EventsOf<Machine extends AnyStateMachine> = EventFromLogic<Machine>;

export interface ChartAdapter<Real, Machine extends AnyStateMachine = AnyStateMachine> {
  /** Makes one, with nothing stored. Called for each run. */
  readonly start: (world: ChartWorld) => Real | Promise<Real>;
  /**
   * By type, what brings the event about. It is not waited for where it waits for a call or for time. To throw refuses
   * the event, as it may where the chart takes none. `delivery` is the same when the event is delivered again.
   */
  readonly events: {
    readonly [Type in EventsOf<Machine>['type']]?: (
      real: Real,
      event: Extract<EventsOf<Machine>, { readonly type: Type }>,
      delivery: string,
    ) => unknown;
  };
  /** Its state: what the snapshot of the chart has as its `value`, or what `expected` returns. Compared deeply. */
  readonly read: (real: Real) => unknown;
  /** What `read` has to return where the chart stands here. Default: `({ value }) => value`. */
  readonly expected?: (snapshot: SnapshotFrom<Machine>) => unknown;
  /**
   * Makes another that goes on with what the one before has stored; that one is not called any more. With it, runs
   * crash.
   */
  readonly restart?: (crashed: Real, world: ChartWorld) => Real | Promise<Real>;
  /** Types of events that may be delivered twice: the second time has to change nothing. */
  readonly repeats?: readonly EventsOf<Machine>['type'][];
  /** Lets go of what it holds at the end of a run. */
  readonly stop?: (real: Real) => unknown;
}
