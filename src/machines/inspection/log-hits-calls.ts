/** The lives of the tool calls in a log. */
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import type { ToolCallEvent, ToolCallInput } from '../turn/tool-call-machine.ts';
import { exploredMachine } from './explored-machine.ts';
import { ChartWalk, HitCounts, meaningOf } from './log-hits-walk.ts';
import type { EventMeanings } from './log-hits-walk.ts';

/** That a tool was told to stop is not written down, and an executor that broke reads like a tool that failed. */
export const HIDDEN_OF_CALLS: readonly string[] = ['executing.working|CANCEL|0', 'executing|error(execute)|0'];

export class CallsInLog {
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
