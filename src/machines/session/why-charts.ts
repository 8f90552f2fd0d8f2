/**
 * Where a session stands in the charts that it lives in: its own, that of the wake that runs, those of its open tool
 * calls. As far as the log tells.
 */
import { chartOutlook } from '../inspection/chart-outlook.ts';
import type { ChartOutlook, PossibleEvent } from '../inspection/chart-outlook.ts';
import type { ChartDescription } from '../inspection/chart-description.ts';
import { describeChart } from '../inspection/describe-chart.ts';
import { toolCallEvents } from '../turn/tool-call-events.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import { wakeEvents } from '../wake/wake-events.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import { sessionChartEvents } from './session-chart-events.ts';
import { sessionMachine } from './session-machine.ts';
import type { OpenToolCall, SessionState } from './session-state.ts';
import { ingressOutlook } from './why-ingress.ts';
import type { IngressOutlook } from './why-ingress.ts';
import { callMovers, sessionMovers, wakeMovers } from './why-chart-movers.ts';
import type { Moved } from './why-chart-movers.ts';
import type { Mover } from './why-movers.ts';
import { sessionTimers } from './why-timers.ts';
import type { SessionTimer, TimerOptions } from './why-timers.ts';

export interface MovedEvent extends PossibleEvent {
  /** What can bring it about. */
  readonly movers: readonly Mover[];
  /** What the chart does not say, and who waits for it should know. */
  readonly remark?: string | undefined;
}

export interface MovedOutlook extends Omit<ChartOutlook, 'possible'> {
  readonly possible: readonly MovedEvent[];
}

export interface WakeOutlook extends MovedOutlook {
  /**
   * The states in which it may be, where the log does not tell them apart; `states` holds what they have in common
   * then.
   */
  readonly mayBeIn: readonly string[];
}

export interface CallOutlook extends MovedOutlook {
  readonly callId: string;
  readonly name: string;
  /** What it waited for has come. */
  readonly isAnswered: boolean;
}

export interface ChartExplanation {
  readonly session: MovedOutlook;
  /** Absent: none runs, as far as the log tells. */
  readonly wake?: WakeOutlook | undefined;
  readonly calls: readonly CallOutlook[];
  /** What may be written to the log from outside. */
  readonly ingress: readonly IngressOutlook[];
  /** Soonest first. */
  readonly timers: readonly SessionTimer[];
}

/** @param nowMs milliseconds since the epoch */
export function explainCharts(state: SessionState, nowMs: number, options: TimerOptions = {}): ChartExplanation {
  const wake = wakeOutlook(state);
  return {
    session: withMovers(chartOutlook(descriptions().session, [sessionLeafOf(state)]), (event) =>
      sessionMovers(event, state, nowMs),
    ),
    ...(wake === undefined ? {} : { wake }),
    calls: state.openToolCalls.map((call) => callOutlook(call, state, nowMs)),
    ingress: ingressOutlook(state, nowMs),
    timers: sessionTimers(state, nowMs, options),
  };
}

interface Descriptions {
  readonly session: ChartDescription;
  readonly wake: ChartDescription;
  readonly toolCall: ChartDescription;
}

let described: Descriptions | undefined;

/** Made when a caller first asks: most processes never do. */
function descriptions(): Descriptions {
  described ??= {
    session: describeChart(sessionMachine, { events: sessionChartEvents }),
    wake: describeChart(wakeMachine, { events: wakeEvents }),
    toolCall: describeChart(toolCallMachine, { events: toolCallEvents }),
  };
  return described;
}

export function sessionLeafOf({ status, stopReason }: Pick<SessionState, 'status' | 'stopReason'>): string {
  if (status !== 'idle') return status;
  return stopReason === 'requires_action' ? 'idle.requires_action' : 'idle.resting';
}

/** Where the chart of an open call is. Whether one that runs is being stopped, only its process knows. */
export function callLeafOf({ phase, request }: OpenToolCall): string {
  if (phase === 'requested' || phase === 'started') return phase === 'requested' ? 'requested' : 'executing.working';
  if (request === undefined) return 'requested';
  return request.kind === 'permission' ? 'awaiting_permission' : 'awaiting_input';
}

/** Between two of its parts a wake writes nothing. */
const BETWEEN = ['folding', 'assembling', 'running.calling', 'committing', 'failing'] as const;

function wakeOutlook(state: SessionState): WakeOutlook | undefined {
  const { openWake, openSpanId, openToolCalls } = state;
  if (openWake === undefined) return undefined;
  const isCalling = openToolCalls.some(({ phase, by }) => phase === 'started' && by === undefined);
  const leaves = openSpanId !== undefined ? ['running.stepping'] : isCalling ? ['running.calling'] : BETWEEN;
  const outlooks = leaves.map((leaf) => chartOutlook(descriptions().wake, [leaf]));
  const [first, ...others] = outlooks;
  if (first === undefined) return undefined;
  const shared =
    others.length === 0
      ? first
      : {
          ...first,
          states: first.states.filter(({ id }) =>
            others.every(({ states }) => states.some((other) => other.id === id)),
          ),
          byItself: [],
        };
  return { ...withMovers(shared, () => wakeMovers()), mayBeIn: leaves };
}

function callOutlook(call: OpenToolCall, state: SessionState, nowMs: number): CallOutlook {
  const { callId, name, phase } = call;
  return {
    callId,
    name,
    isAnswered: phase === 'answered',
    ...withMovers(chartOutlook(descriptions().toolCall, [callLeafOf(call)]), (event) =>
      callMovers(event, { call, state, nowMs }),
    ),
  };
}

function withMovers(
  { chart, states, possible, ...rest }: ChartOutlook,
  movedBy: (event: string) => Moved,
): MovedOutlook {
  return { chart, states, possible: possible.map((event) => ({ ...event, ...movedBy(event.event) })), ...rest };
}
