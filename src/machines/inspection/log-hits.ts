/**
 * What the logs of sessions show of charts: of that of the session all of it, of those of wakes and tool calls what was
 * written down.
 *
 * The session's transitions are those that folding its log takes. A wake and a tool call are taken through their charts
 * by what their events mean; where an event can mean two things, neither counts. `hiddenFromLogs` says which
 * transitions no log ever shows.
 */
import { watchCharts } from '../chart-watch.ts';
import type { SessionEvent } from '../session/session-event.ts';
import { foldSession } from '../session/session-fold.ts';
import { sessionMachine } from '../session/session-machine.ts';
import { initialSessionState } from '../session/session-state.ts';
import type { SessionState } from '../session/session-state.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { ChartHits } from './chart-change.ts';
import { describeChart, transitionIds } from './describe-chart.ts';
import { CallsInLog, HIDDEN_OF_CALLS } from './log-hits-calls.ts';
import { HitCounts } from './log-hits-walk.ts';
import { SEEN_OF_WAKES, WakesInLog } from './log-hits-wakes.ts';
import { mergeHits } from './hits.ts';

/** Ids of the charts that logs tell of. */
export const chartsToldByLogs: readonly string[] = [sessionMachine.id, toolCallMachine.id, wakeMachine.id];

/** Transitions that no log ever shows, whatever happened. All of them, for a chart that logs do not tell of. */
export function hiddenFromLogs(chart: string): readonly string[] {
  if (chart === sessionMachine.id) return [];
  if (chart === toolCallMachine.id) return HIDDEN_OF_CALLS;
  return chart === wakeMachine.id ? idsOf(wakeMachine).filter((id) => !SEEN_OF_WAKES.includes(id)) : [];
}

function idsOf(machine: typeof wakeMachine): readonly string[] {
  return describeChart(machine).transitions.map(({ id }) => id);
}

/**
 * @param events one log, from its first event on
 * @param before what was seen in others
 * @returns both together, by the id of the chart
 */
export async function logHits(
  events: Iterable<SessionEvent> | AsyncIterable<SessionEvent>,
  before: ReadonlyMap<string, ChartHits> = new Map(),
): Promise<ReadonlyMap<string, ChartHits>> {
  const log = new LogHits();
  for await (const event of events) log.see(event);
  return new Map(mergeHits([...before.values(), ...log.seen]).map((hits) => [hits.chart, hits]));
}

/** What one log shows. */
class LogHits {
  readonly #session = new HitCounts(sessionMachine.id);
  readonly #calls = new CallsInLog();
  readonly #wakes = new WakesInLog();
  readonly #ids = transitionIds(sessionMachine);
  #state: SessionState | undefined;
  #last: string | undefined;

  /** The events in the order of the log. */
  see(event: SessionEvent): void {
    const state =
      this.#state ??
      initialSessionState({
        sessionId: event.sessionId,
        agentId: event.type === 'session.created' ? event.data.agentId : '',
      });
    this.#state = this.#folded(state, event);
    this.#calls.see(event);
    this.#wakes.see(event);
  }

  /** Folding an event looks up in the chart of the session exactly what the event does there. */
  #folded(state: SessionState, event: SessionEvent): SessionState {
    const unwatch = watchCharts((machine, taken) => {
      if (machine !== sessionMachine) return;
      for (const definition of taken) {
        const id = this.#ids.get(definition);
        if (id !== undefined) this.#last = this.#session.count(id, this.#last);
      }
    });
    try {
      return foldSession(state, event);
    } finally {
      unwatch();
    }
  }

  get seen(): readonly ChartHits[] {
    return [this.#session, this.#calls.counts, this.#wakes.counts].map((counts) => counts.hits);
  }
}
