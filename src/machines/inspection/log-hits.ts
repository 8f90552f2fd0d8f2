/**
 * What the logs of sessions show of charts: of that of the session all of it, of those of wakes and tool calls what was
 * written down.
 *
 * The session's transitions are those that folding its log takes. A wake and a tool call are taken through their charts
 * by what their events mean; where an event can mean two things, neither counts. `hiddenFromLogs` says which
 * transitions no log ever shows.
 */
import { watchCharts } from '../chart-watch.ts';
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { foldSession } from '../session/session-fold.ts';
import { sessionMachine } from '../session/session-machine.ts';
import type { SessionState } from '../session/session-state.ts';
import { initialSessionState } from '../session/session-state.ts';
import type { ToolCallEvent, ToolCallInput } from '../turn/tool-call-machine.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import type { WakeInput } from '../wake/wake-machine.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { ChartHits } from './chart-change.ts';
import { describeChart, transitionIds } from './describe-chart.ts';
import { exploredMachine } from './explored-machine.ts';
import { mergeHits } from './hits.ts';
import type { EventMeanings } from './log-hits-walk.ts';
import { ChartWalk, HitCounts, meaningOf } from './log-hits-walk.ts';
import { WakeInLog } from './wake-in-log.ts';

// The lives of the wakes in a log, as far as their events show which way they went.

/**
 * What can be told from a log. Not among them: wakes that found nothing to do, which write nothing; STOP; what was
 * folded again because the log had moved; which part of the work broke, since its end reads the same for all; and what
 * became of the right to write afterwards.
 */
export const SEEN_OF_WAKES: readonly string[] = [
  'claiming|done(claim)|0',
  'folding|done(fold)|0',
  'folding|done(fold)|1',
  'folding|done(fold)|2',
  'assembling|done(assemble)|0',
  'running.stepping|done(step)|0',
  'running.stepping|done(step)|1',
  'running.calling|done(callTools)|0',
  'committing|done(commit)|0',
];

class WakesInLog {
  readonly counts = new HitCounts(wakeMachine.id);
  readonly #machine = exploredMachine(wakeMachine);
  readonly #led = new WakeInLog<ChartWalk>();

  see(event: SessionEvent): void {
    if (event.type === 'wake.started') {
      const input = { sessionId: event.sessionId, wakeId: event.data.wakeId } satisfies WakeInput;
      this.#led.begin(new ChartWalk(this.#machine, this.counts, input));
    } else if (event.type === 'wake.ended') this.#led.end(event.data.outcome);
    else this.#led.see(event);
  }
}

// The lives of the tool calls in a log.

/** That a tool was told to stop is not written down, and an executor that broke reads like a tool that failed. */
const HIDDEN_OF_CALLS: readonly string[] = ['executing.working|CANCEL|0', 'executing|error(execute)|0'];

class CallsInLog {
  readonly counts = new HitCounts(toolCallMachine.id);
  readonly #machine = exploredMachine(toolCallMachine);
  readonly #open = new Map<string, { readonly walk: ChartWalk; readonly input: ToolCallInput }>();

  readonly #means: EventMeanings = {
    // What a backend runs itself has no life of its own here.
    'agent.tool_use': ({ by, callId, name, input }) =>
      by === undefined ? this.#begin({ callId, name, input }) : undefined,
    'permission.requested': ({ callId }) => {
      // What was asked before is spent when it is asked again: the call is as it was at first.
      if (this.#open.get(callId)?.walk.state === 'awaiting_permission') this.#beginAgain(callId);
      this.#send(callId, { type: 'ASK_PERMISSION' });
    },
    'agent.question_asked': ({ callId }) => this.#send(callId, { type: 'ASK_INPUT' }),
    'agent.subflow_started': ({ callId }) => this.#send(callId, { type: 'ASK_INPUT' }),
    'agent.custom_tool_use': ({ callId }) =>
      callId === undefined ? undefined : this.#send(callId, { type: 'ASK_INPUT' }),
    'agent.tool_started': ({ callId }) => this.#send(callId, { type: 'RUN' }),
    'agent.tool_requeued': ({ callId }) => this.#beginAgain(callId),
    'agent.tool_result': (data) => this.#end(data),
  };

  see(event: SessionEvent): void {
    meaningOf(this.#means, event)?.(event.data);
  }

  #begin(input: ToolCallInput): void {
    this.#open.set(input.callId, { walk: new ChartWalk(this.#machine, this.counts, input), input });
  }

  #beginAgain(callId: string): void {
    const call = this.#open.get(callId);
    if (call !== undefined) this.#begin(call.input);
  }

  #send(callId: string, event: ToolCallEvent): void {
    this.#open.get(callId)?.walk.send(event);
  }

  #end({ callId, outcome, output }: SessionEventData<'agent.tool_result'>): void {
    const walk = this.#open.get(callId)?.walk;
    this.#open.delete(callId);
    if (walk === undefined) return;
    if (walk.state?.startsWith('executing') === true) {
      if (outcome === 'unknown') walk.send({ type: 'LOSE', reason: '' });
      else walk.done('execute', { outcome, output });
    } else if (walk.state === 'awaiting_input' && (outcome === 'completed' || outcome === 'failed')) {
      walk.send({ type: 'ANSWER', outcome, output });
    } else if (outcome === 'denied') {
      walk.send({ type: 'DENY', reason: '' });
    } else if (outcome === 'cancelled' || outcome === 'failed') {
      // Nothing of it had started: it was taken back, be it since it could not have been run.
      walk.send({ type: 'CANCEL', reason: '' });
    }
  }
}

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
