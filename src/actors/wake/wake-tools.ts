/**
 * The tool calls of a wake: each is taken as far as it goes now. What needs consent, an answer or another agent is
 * asked for and stays open; a later wake goes on with it. What may run is said in the log to start before it does, and
 * how it ended is stored.
 */
import type { AnyActorRef } from 'xstate';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { mayChangeWork } from '../../machines/outcome/changes-work.ts';
import type { ToolCallEvent, ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import type { OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { ToolExecutor } from '../turn/tool-executor.ts';
import type { ToolProgress, PreparedAgent, HookedWake } from '../turn/tool.ts';
import { confirmCall, planCalls, resolved, resultDraft } from './call-plan.ts';
import type { CallPlanOptions, RunningCall, SettledCall } from './call-plan.ts';
import type { WakeJournal } from './wake-journal.ts';

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
  for (const record of inRecords(settled)) {
    let stored: readonly SettledCall[] = [];
    await journal.appendDecided((state) => {
      stored = record.filter(({ open, next }) => isAsDecided(state, open) && !(isCutShort(state) && asks(next)));
      return stored.flatMap(({ drafts }) => drafts);
    });
    for (const { call, next } of stored) executor.replay(call, next, parent);
  }
  if (running.length > 0) await execute(options, running);
}

/** As few appends as fit into one record each: answers that came one by one may be too much together. */
function inRecords(settled: readonly SettledCall[]): SettledCall[][] {
  const records: SettledCall[][] = [];
  let room = 0;
  for (const call of settled) {
    const { length } = JSON.stringify(call.drafts);
    if (length > room || records.length === 0) {
      records.push([]);
      room = MAX_RECORD_CHARACTERS;
    }
    records.at(-1)?.push(call);
    room -= length;
  }
  return records;
}

/** Whether a client has interrupted the wake: what is asked then is taken back by its end. */
function isCutShort({ openWake }: SessionState): boolean {
  return openWake?.interruption !== undefined;
}

function asks({ type }: ToolCallEvent): boolean {
  return type === 'ASK_PERMISSION' || type === 'ASK_INPUT';
}

/** A client may have answered since, or have taken the call back by an interruption, which is its result then. */
function isAsDecided({ openToolCalls }: SessionState, { callId, phase }: OpenToolCall): boolean {
  return openToolCalls.some((now) => now.callId === callId && now.phase === phase);
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
      return (await hasStarted(journal, plan, startDraft(plan, agent))) ? { allowed: plan.subject } : 'held';
    },
    onResult: (call, result) => journal.append([resultDraft(call, result)]),
  });
}

/** Whether the log says now that the call starts. */
async function hasStarted(journal: WakeJournal, { open }: RunningCall, start: SessionEventDraft): Promise<boolean> {
  // Where it was not asked about no other process ends it, and calls of one step must not overtake each other.
  if (open.answer === undefined) {
    await journal.append([start]);
    return true;
  }
  let isStored = false;
  await journal.appendDecided((state) => {
    isStored = isAsDecided(state, open);
    return isStored ? [resolved(open), start] : [];
  });
  return isStored;
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
