/**
 * Answers an agent that asks whether it may run a tool of its own: for this once, and never for good, since it is our
 * rules that remember.
 */
import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { PermissionGate } from './permission-gate.ts';
import type { ToolCallNews } from './session-updates.ts';
import type { ToolCalls } from './tool-calls.ts';

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

export interface PermissionQuestion {
  readonly toolCall: ToolCallNews;
  readonly options: readonly PermissionOption[];
}

export interface PermissionQuestionsOptions {
  readonly gate: PermissionGate;
  readonly calls: ToolCalls;
  readonly ledger: ToolLedger;
  readonly onNews: (message: string) => void;
}

export async function answerQuestion(
  { toolCall, options }: PermissionQuestion,
  { gate, calls, ledger, onNews }: PermissionQuestionsOptions,
): Promise<RequestPermissionResponse> {
  const request = calls.request(toolCall);
  // What has ended needs no permission, and gets none.
  if (request === undefined) return CANCELLED;
  const { decision } = await gate.ask(request);
  if (!gate.isOpen) {
    ledger.denied(request.callId);
    return CANCELLED;
  }
  const choice = options.find(({ kind }) => kind === (decision === 'allow' ? 'allow_once' : 'reject_once'));
  if (decision === 'allow' && choice === undefined)
    onNews(`it was allowed to run ${request.name}, but offers no way to say so for this once`);
  // Told before the agent hears of it: what has not been told must not run.
  if (decision === 'allow' && choice !== undefined) ledger.started(request.callId);
  else ledger.denied(request.callId);
  return choice === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: choice.optionId } };
}
