/**
 * The log of a session as an inspection log, so that a past run can be inspected though no recorder was on: the
 * session, its wakes and its tool calls are actors of their charts. What moved the session, or came from outside, are
 * events and steps of it; what else the log holds is what its wakes said.
 */
import { watchCharts } from '../chart-watch.ts';
import { describeChart, transitionIds } from '../inspection/describe-chart.ts';
import type { EventMeanings } from '../inspection/log-hits-walk.ts';
import { meaningOf } from '../inspection/log-hits-walk.ts';
import { WakeInLog } from '../inspection/wake-in-log.ts';
import { sessionChartEvents } from '../session/session-chart-events.ts';
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { foldSession } from '../session/session-fold.ts';
import { sessionMachine } from '../session/session-machine.ts';
import type { SessionState } from '../session/session-state.ts';
import { initialSessionState } from '../session/session-state.ts';
import { sessionLeafOf } from '../session/why-charts.ts';
import { toolCallEvents } from '../turn/tool-call-events.ts';
import type { ToolCallEvent, ToolCallInput } from '../turn/tool-call-machine.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import { wakeEvents } from '../wake/wake-events.ts';
import type { WakeInput } from '../wake/wake-machine.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import { boundedData } from './bounded-data.ts';
import { callSubject, shortLine } from './call-label.ts';
import type { InspectionHeader, InspectionRecord } from './inspection-record.ts';
import { INSPECTION_LOG_FORMAT } from './inspection-record.ts';
import { lazilyExplored, SessionRecordWriter, ToldLife, valueOf } from './session-record-writer.ts';
import { HANDLED_BY_LOGIC } from './taken-words.ts';

/** One log, event by event. */
export class SessionRecords {
  readonly #ids = transitionIds(sessionMachine);
  #told: Told | undefined;

  /** The events in the order of the log, from its first on. @returns what this one adds */
  see(event: SessionEvent): readonly InspectionRecord[] {
    const told = (this.#told ??= begun(event));
    told.writer.t = timeOf(event, told.writer.t);
    const before = told.wakes.open;
    const taken = this.#fold(told, event);
    const from = event.epoch === undefined ? undefined : before;
    if (taken.length > 0 || event.type.startsWith('user.')) this.#step(told, event, taken, from);
    else told.writer.write({ k: 'emit', a: from ?? told.key, type: event.type, ...boundedData(event.data) });
    told.wakes.see(event);
    told.calls.see(event, told.wakes.open ?? told.key);
    return told.writer.take();
  }

  #step(
    { writer, key, state }: Told,
    { type, data }: SessionEvent,
    taken: readonly string[],
    from: string | undefined,
  ): void {
    const e = writer.send(key, { from, type, data });
    writer.write({
      k: 'step',
      a: key,
      e,
      type,
      taken: taken.length === 0 ? [HANDLED_BY_LOGIC] : [...taken],
      value: valueOf(sessionLeafOf(state)),
      status: state.status === 'terminated' ? 'done' : 'active',
    });
  }

  /** Folding an event looks up in the chart of the session exactly what the event does there. */
  #fold(told: Told, event: SessionEvent): readonly string[] {
    const taken: string[] = [];
    const unwatch = watchCharts((machine, definitions) => {
      if (machine !== sessionMachine) return;
      for (const definition of definitions) taken.push(this.#ids.get(definition) ?? '');
    });
    try {
      told.state = foldSession(told.state, event);
    } finally {
      unwatch();
    }
    return taken;
  }
}

interface Told {
  readonly writer: SessionRecordWriter;
  readonly key: string;
  readonly wakes: WakeRecords;
  readonly calls: CallRecords;
  state: SessionState;
}

function begun(event: SessionEvent): Told {
  const { sessionId } = event;
  const { agentId, title } = event.type === 'session.created' ? event.data : { agentId: '', title: undefined };
  const state = initialSessionState({ sessionId, agentId });
  const writer = new SessionRecordWriter(sessionId);
  writer.t = timeOf(event, 0);
  const chart = (): ReturnType<typeof describeChart> => describeChart(sessionMachine, { events: sessionChartEvents });
  const key = writer.begin(chart, sessionMachine.id, {
    id: sessionId,
    value: valueOf(sessionLeafOf(state)),
    facts: { sessionId, agentId, label: title },
  });
  return { writer, key, wakes: new WakeRecords(writer, key), calls: new CallRecords(writer, key), state };
}

/** Times of a log that came from elsewhere may be no times. */
function timeOf({ at }: SessionEvent, otherwise: number): number {
  const time = Date.parse(at);
  return Number.isNaN(time) || time < 0 ? otherwise : time;
}

/** The header of the log that begins with this event. */
export function headerOfSession(first: SessionEvent): InspectionHeader {
  return { format: INSPECTION_LOG_FORMAT, boot: first.sessionId, startedAt: timeOf(first, 0) };
}

/** All records of one log. The same events give the same records. */
export function* recordsOfSession(events: Iterable<SessionEvent>): Generator<InspectionRecord, void, undefined> {
  const log = new SessionRecords();
  for (const event of events) yield* log.see(event);
}

/**
 * The wakes of a stored session as actors of their chart, as far as their events show which way they went; how they
 * ended always.
 */
class WakeRecords {
  readonly #writer: SessionRecordWriter;
  readonly #session: string;
  readonly #machine = lazilyExplored(wakeMachine);
  readonly #led = new WakeInLog<ToldLife>();

  constructor(writer: SessionRecordWriter, session: string) {
    this.#writer = writer;
    this.#session = session;
  }

  /** The key of the wake that runs, as far as the log tells. */
  get open(): string | undefined {
    return this.#led.open?.key;
  }

  see(event: SessionEvent): void {
    if (event.type === 'wake.started') this.#begin(event.sessionId, event.data);
    else if (event.type === 'wake.ended') this.#end(event.data);
    else this.#led.see(event);
  }

  #begin(sessionId: string, { wakeId, trigger }: SessionEventData<'wake.started'>): void {
    // Another one begins only when the one before is over, though the log does not say how.
    this.#led.open?.end('stopped');
    const input = { sessionId, wakeId } satisfies WakeInput;
    const chart = (): ReturnType<typeof describeChart> => describeChart(wakeMachine, { events: wakeEvents });
    this.#led.begin(
      new ToldLife(this.#writer, {
        chart,
        machine: this.#machine(),
        input,
        parent: this.#session,
        id: wakeId,
        facts: { label: trigger, wakeId },
      }),
    );
  }

  #end({ outcome, summary, error }: SessionEventData<'wake.ended'>): void {
    const life = this.#led.open;
    const isTold = this.#led.end(outcome);
    if (life === undefined) return;
    const output = { outcome, summary, ...(error === undefined ? {} : { error }) };
    // Another wake wrote the end of one that was lost: where it was then is unknown.
    if (outcome === 'lost') return life.end('stopped', { output });
    if (isTold) life.done('release');
    life.end('done', { value: 'ended', output });
  }
}

/** The tool calls of a stored session as actors of their chart. What a backend runs itself has no life of its own. */
class CallRecords {
  readonly #writer: SessionRecordWriter;
  readonly #session: string;
  readonly #machine = lazilyExplored(toolCallMachine);
  readonly #open = new Map<string, { readonly life: ToldLife; readonly input: ToolCallInput }>();
  /** The writer of the event: the wake that runs, or the session. */
  #from = '';

  readonly #means: EventMeanings = {
    'agent.tool_use': ({ by, callId, name, input, mayHaveStarted }) => {
      if (by !== undefined) return;
      this.#begin({ callId, name, input });
      // Old logs do not say when a call began to take effect: it may have at once.
      if (mayHaveStarted === true) this.#send(callId, { type: 'RUN' });
    },
    // What was asked before is spent when it is asked again: the call is as it was at first.
    'permission.requested': ({ callId }) => this.#ask(callId, { type: 'ASK_PERMISSION' }, 'awaiting_permission'),
    'agent.question_asked': ({ callId }) => this.#ask(callId, { type: 'ASK_INPUT' }),
    'agent.subflow_started': ({ callId }) => this.#ask(callId, { type: 'ASK_INPUT' }),
    'agent.custom_tool_use': ({ callId }) =>
      callId === undefined ? undefined : this.#ask(callId, { type: 'ASK_INPUT' }),
    'agent.tool_started': ({ callId }) => this.#send(callId, { type: 'RUN' }),
    'agent.tool_requeued': ({ callId }) => this.#beginAgain(callId),
    'agent.tool_result': (data) => this.#end(data),
  };

  /** @param session key of the actor of the session: calls outlive the wakes that ask for them */
  constructor(writer: SessionRecordWriter, session: string) {
    this.#writer = writer;
    this.#session = session;
  }

  see(event: SessionEvent, from: string): void {
    this.#from = from;
    meaningOf(this.#means, event)?.(event.data);
  }

  #begin(input: ToolCallInput): void {
    const { callId, name } = input;
    const label = shortLine(callSubject(name, input.input));
    const chart = (): ReturnType<typeof describeChart> => describeChart(toolCallMachine, { events: toolCallEvents });
    this.#open.get(callId)?.life.end('stopped');
    this.#open.set(callId, {
      life: new ToldLife(this.#writer, {
        chart,
        machine: this.#machine(),
        input,
        parent: this.#session,
        id: callId,
        facts: { label, name, callId },
      }),
      input,
    });
  }

  #beginAgain(callId: string): void {
    const call = this.#open.get(callId);
    if (call !== undefined) this.#begin(call.input);
  }

  /**
   * What may have begun, by an old log, had not: a person is asked first. @param spent the state in which it is asked
   * anew
   */
  #ask(callId: string, event: ToolCallEvent, spent?: string): void {
    const state = this.#open.get(callId)?.life.state;
    if (state !== undefined && (state === spent || state === 'executing.working')) this.#beginAgain(callId);
    this.#send(callId, event);
  }

  #send(callId: string, event: ToolCallEvent): void {
    this.#open.get(callId)?.life.send(event, this.#from);
  }

  #end({ callId, outcome, output }: SessionEventData<'agent.tool_result'>): void {
    const life = this.#open.get(callId)?.life;
    this.#open.delete(callId);
    if (life === undefined) return;
    this.#bringToEnd(life, outcome, output);
    // Where the chart has no way that the log tells, it is known all the same how it ended.
    life.end('done', { value: life.state === undefined ? undefined : outcome, output: { outcome, output } });
  }

  #bringToEnd(life: ToldLife, outcome: SessionEventData<'agent.tool_result'>['outcome'], output: unknown): void {
    if (life.state?.startsWith('executing') === true) {
      if (outcome === 'unknown') life.send({ type: 'LOSE', reason: '' } satisfies ToolCallEvent, this.#from);
      else life.done('execute', { outcome, output });
    } else if (life.state === 'awaiting_input' && (outcome === 'completed' || outcome === 'failed')) {
      life.send({ type: 'ANSWER', outcome, output } satisfies ToolCallEvent, this.#from);
    } else if (outcome === 'denied') {
      life.send({ type: 'DENY', reason: '' } satisfies ToolCallEvent, this.#from);
    } else if (outcome === 'cancelled' || outcome === 'failed') {
      // Nothing of it had started: it was taken back, be it since it could not have been run.
      life.send({ type: 'CANCEL', reason: '' } satisfies ToolCallEvent, this.#from);
    }
  }
}
