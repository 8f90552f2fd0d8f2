/**
 * The tool calls of a wake: each is taken as far as it goes now. What needs consent, an answer or another agent is
 * asked for and stays open; a later wake goes on with it. What may run is said in the log to start before it does, and
 * how it ended is stored.
 */
import type { AnyActorRef } from 'xstate';
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { mayChangeWork } from '../../machines/outcome/changes-work.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { ToolExecutor } from '../turn/tool-executor.ts';
import type { ToolProgress, PreparedAgent, HookedWake } from '../turn/tool.ts';
import { confirmCall, planCalls, resolved, resultDraft } from './call-plan.ts';
import type { CallPlanOptions, RunningCall, SettledCall } from './call-plan.ts';

export interface WakeToolsOptions extends CallPlanOptions {
  readonly executor: ToolExecutor;
  /** What tools about the session itself are given. */
  readonly wake: HookedWake;
  readonly signal: AbortSignal;
  readonly force: AbortSignal | undefined;
  readonly onProgress: ((call: ToolCallInput, progress: ToolProgress) => void) | undefined;
  /** The wake's actor. */
  readonly parent: AnyActorRef;
}

/** A character is four bytes at most. */
const MAX_RECORD_CHARACTERS = MAX_RECORD_BYTES / 4;

/** Takes every open call as far as it goes now. */
export async function runReadyCalls(options: WakeToolsOptions): Promise<void> {
  const { journal, executor, parent } = options;
  options.gate.refresh();
  const { settled, running } = await planCalls(options);
  for (const drafts of inRecords(settled)) await journal.append(drafts);
  for (const { call, next } of settled) executor.replay(call, next, parent);
  if (running.length > 0) await execute(options, running);
}

/** As few appends as fit into one record each: answers that came one by one may be too much together. */
function inRecords(settled: readonly SettledCall[]): SessionEventDraft[][] {
  const records: SessionEventDraft[][] = [];
  let room = 0;
  for (const { drafts } of settled) {
    const length = JSON.stringify(drafts).length;
    if (length > room || records.length === 0) {
      records.push([]);
      room = MAX_RECORD_CHARACTERS;
    }
    records.at(-1)?.push(...drafts);
    room -= length;
  }
  return records;
}

async function execute(options: WakeToolsOptions, running: readonly RunningCall[]): Promise<void> {
  const { executor, agent, outputs, journal, wake, signal, force, onProgress, parent } = options;
  const plans = new Map(running.map((plan) => [plan.call.callId, plan]));
  await executor.runStep({
    calls: running.map(({ call }) => call),
    tools: agent.tools,
    context: {
      session: placeOfSession(journal.state),
      workspaceDirectory: agent.workspaceDirectory,
      environment: agent.environment,
      wake,
      signal,
    },
    force,
    onProgress,
    outputs,
    parent,
    onStart: async ({ callId }) => {
      const planned = plans.get(callId);
      // Time has passed, and other calls of the step have run: what was allowed then may not be allowed now, or be
      // something else.
      const plan = planned === undefined ? undefined : await confirmCall(options, planned);
      if (plan === undefined) return 'held';
      await journal.append([...(plan.open.answer === undefined ? [] : [resolved(plan.open)]), startDraft(plan, agent)]);
      // A client may have cut the turn short in between and closed the call with it.
      const hasStarted = journal.state.openToolCalls.some((call) => call.callId === callId && call.phase === 'started');
      if (!hasStarted)
        throw new RuntimeError('TOOL_CALL_CLOSED', `tool call ${callId} was closed before it could start`, {
          category: 'conflict',
          hint: 'The session was interrupted; nothing of the call has run.',
        });
      return { allowed: plan.subject };
    },
    onResult: (call, result) => journal.append([resultDraft(call, result)]),
  });
}

function startDraft(
  { call: { callId, name }, open: { attempt }, allowedBy }: RunningCall,
  agent: PreparedAgent,
): SessionEventDraft {
  const definition = agent.tools.get(name)?.definition;
  const isIdempotent = definition?.idempotent === true;
  const leavesWork = definition !== undefined && !mayChangeWork(definition);
  return {
    type: 'agent.tool_started',
    data: {
      callId,
      allowedBy,
      ...(attempt === undefined ? {} : { attempt }),
      ...(isIdempotent ? { ifLost: 'retry' } : {}),
      ...(leavesWork ? { isReadOnly: true } : {}),
    },
  };
}
