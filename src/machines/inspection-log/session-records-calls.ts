/** The tool calls of a stored session as actors of their chart. What a backend runs itself has no life of its own. */
import { describeChart } from '../inspection/describe-chart.ts';
import { meaningOf } from '../inspection/log-hits-walk.ts';
import type { EventMeanings } from '../inspection/log-hits-walk.ts';
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { toolCallEvents } from '../turn/tool-call-events.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import type { ToolCallEvent, ToolCallInput } from '../turn/tool-call-machine.ts';
import { callSubject, shortLine } from './call-label.ts';
import { ToldLife, lazilyExplored } from './session-record-writer.ts';
import type { SessionRecordWriter } from './session-record-writer.ts';

export class CallRecords {
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
