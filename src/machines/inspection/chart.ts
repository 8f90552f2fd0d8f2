/**
 * A chart with all that is known about it: what tools that read charts are given, ours and those that users write.
 */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import type { ChartEvents } from './chart-events.ts';

export interface Chart {
  readonly machine: AnyStateMachine;
  /** What may be sent to it. Without it, what the chart mentions is all there is. */
  readonly events?: ChartEvents | undefined;
  /**
   * The project wants every operation named and every deadline on record: what stands in place, and timers of XState,
   * then weigh more than a note. Default false.
   */
  readonly isStrict?: boolean | undefined;
  /** What has this life, as the end of "The life of …". */
  readonly about?: string | undefined;
  /** To try the chart with: what an actor of it is given. */
  readonly input?: unknown;
  /**
   * To try the chart with: events by their type, where guards and actions read what they carry. They go before those of
   * `events`.
   */
  readonly samples?: Readonly<Record<string, readonly AnyEventObject[]>> | undefined;
  /**
   * To try the chart with: what its invoked actors may answer, by their id in the state. Where absent: `undefined`,
   * once.
   */
  readonly outputs?: Readonly<Record<string, readonly unknown[]>> | undefined;
}
