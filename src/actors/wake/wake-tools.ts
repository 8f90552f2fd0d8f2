/**
 * The tool calls of a wake: asks for the consent that some of them need, says in the log that one starts before it does, and stores how
 * it ended. Calls that wait for somebody stay open; a later wake goes on with them.
 */
import type { AnyActorRef } from 'xstate';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import { readToolInput } from '../../machines/turn/tool-schema.ts';
import { readyCalls } from '../../machines/wake/wake-decision.ts';
import type { EventStore } from '../session/event-store.ts';
import type { Tool } from '../turn/tool.ts';
import type { ToolExecutor } from '../turn/tool-executor.ts';
import type { PreparedAgent } from './wake-context.ts';

export interface WakeToolsOptions {
  readonly store: EventStore;
  readonly executor: ToolExecutor;
  readonly agent: PreparedAgent;
  /** The calls of the last step, whose input need not be read again. */
  readonly calls: readonly ToolCallInput[];
  readonly state: () => SessionState;
  readonly append: (drafts: readonly SessionEventDraft[]) => Promise<void>;
  readonly newId: () => string;
  readonly signal: AbortSignal;
  /** The wake's actor. */
  readonly parent: AnyActorRef;
}

/** Takes every open call as far as it goes now. */
export async function runReadyCalls(options: WakeToolsOptions): Promise<void> {
  const { append, agent } = options;
  const asking: SessionEventDraft[] = [];
  const closing: SessionEventDraft[] = [];
  const running: ToolCallInput[] = [];
  for (const open of readyCalls(options.state())) {
    const call = await inputOf(options, open);
    const { answer } = open;
    const request = answer === undefined ? requestFor(call, agent, options.newId) : undefined;
    if (request !== undefined) asking.push(request);
    else if (answer?.kind === 'answer') closing.push(result(call, 'completed', answer.response));
    else if (answer?.allowed === false) closing.push(resolved(open), result(call, 'denied', `The call was denied.${answer.note === undefined ? '' : ` ${answer.note}`}`));
    else running.push(call);
  }
  if (asking.length + closing.length > 0) await append([...closing, ...asking]);
  if (running.length > 0) await execute(options, running);
}

async function execute({ executor, agent, state, append, signal, parent }: WakeToolsOptions, calls: readonly ToolCallInput[]): Promise<void> {
  const open = new Map(state().openToolCalls.map((call) => [call.callId, call]));
  const { sessionId, agentId } = state();
  await executor.runStep({
    calls,
    tools: agent.tools,
    context: { session: { sessionId, agentId }, workspaceDirectory: agent.workspaceDirectory, signal },
    parent,
    onStart: async ({ callId }) => {
      const answered = open.get(callId)?.answer === undefined ? undefined : open.get(callId);
      await append([...(answered === undefined ? [] : [resolved(answered)]), { type: 'agent.tool_started', data: { callId } }]);
      // Somebody may have cut the turn short in between and closed the call with it.
      const hasStarted = state().openToolCalls.some((call) => call.callId === callId && call.phase === 'started');
      if (!hasStarted) throw new RuntimeError('TOOL_CALL_CLOSED', `tool call ${callId} was closed before it could start`, { category: 'conflict', hint: 'The session was interrupted; nothing of the call has run.' });
    },
    onResult: (call, { outcome, output }) => append([result(call, outcome, output)]),
  });
}

/** What somebody outside has to be asked before the call can go on, if anything. */
function requestFor({ callId, name, input }: ToolCallInput, agent: PreparedAgent, newId: () => string): SessionEventDraft | undefined {
  const tool = agent.tools.get(name);
  // A call that the tool would refuse is not worth anybody's time; the executor tells the model.
  const reading = tool === undefined ? undefined : readToolInput(tool.definition, input);
  if (tool === undefined || reading?.ok !== true) return undefined;
  const requestId = newId();
  const question = tool.question?.(reading.input);
  if (question !== undefined) return { id: requestId, type: 'agent.question_asked', data: { requestId, callId, ...question } };
  const because = reasonToAsk(tool, agent);
  return because === undefined ? undefined : { id: requestId, type: 'permission.requested', data: { requestId, callId, toolName: name, input, because } };
}

function reasonToAsk({ definition: { name, permissionPolicy, readOnly } }: Tool, { definition }: PreparedAgent): string | undefined {
  if (permissionPolicy === 'always_ask') return `${name} always asks.`;
  return definition.permission === 'ask' && !readOnly ? `${name} can change something, and the agent asks before that.` : undefined;
}

async function inputOf({ store, calls, state }: WakeToolsOptions, { callId, name, seq }: OpenToolCall): Promise<ToolCallInput> {
  const known = calls.find((call) => call.callId === callId);
  if (known !== undefined) return known;
  const [event] = await store.read(state().sessionId, { from: seq, limit: 1 });
  if (event?.type === 'agent.tool_use' && event.data.callId === callId) return { callId, name, input: event.data.input };
  throw new RuntimeError('TOOL_CALL_LOST', `expected tool call ${callId} at event ${seq}, it is not there`, { category: 'storage', hint: 'The log was damaged; interrupt the session to close the call.' });
}

function resolved({ callId, request, answer }: OpenToolCall): SessionEventDraft {
  const isAllowed = answer?.kind === 'permission' && answer.allowed;
  const note = answer?.kind === 'permission' ? answer.note : undefined;
  return {
    type: 'permission.resolved',
    data: { requestId: request?.requestId ?? callId, callId, decision: isAllowed ? 'allowed' : 'denied', ...(note === undefined ? {} : { note }) },
  };
}

function result({ callId, name }: ToolCallInput, outcome: 'completed' | 'failed' | 'denied' | 'cancelled', output: unknown): SessionEventDraft {
  return { type: 'agent.tool_result', data: { callId, name, outcome, output } };
}
