/**
 * What a model step leaves in the log, made from what the backend returned. One append, so that a crash leaves all of
 * it or none.
 */
import { beginningOf } from '../cut-text.ts';
import type { RunFailure } from '../run/run-failure.ts';
import type { RunPayload, RunUsage } from '../run/run-output.ts';
import type { SessionEventDraft } from '../session/session-event.ts';
import { MAX_TOOL_CALLS_PER_STEP } from '../session/limits.ts';
import { readDirective } from '../wake/directive.ts';
import type { ToolCallInput } from './tool-call-machine.ts';

/** Characters of a tool's name in the log: no tool has a longer one, and a model may say anything. */
const MAX_TOOL_NAME_CHARACTERS = 200;

export interface FinishedStep {
  readonly spanId: string;
  /** The backend's own session, which has seen the conversation up to the end of this step. */
  readonly bound?: Extract<SessionEventDraft, { readonly type: 'backend.session_bound' }> | undefined;
  readonly payloads: readonly RunPayload[];
  readonly usage?: RunUsage | undefined;
  readonly error?: RunFailure | undefined;
  readonly modelSteps: number;
  /** A client cut the step short: what the model had said by then counts as said, and what it read as read. */
  readonly wasInterrupted?: boolean | undefined;
  /** What it streamed until then, for a backend that returns nothing of a step that was stopped. */
  readonly streamedText?: string | undefined;
  /** Ingress events that were part of what the model read. */
  readonly consumed: readonly string[];
  /** An id for each tool call that is unique in the session; what a provider calls it is not. */
  readonly newCallId: () => string;
}

export interface StepEvents {
  readonly drafts: readonly SessionEventDraft[];
  readonly calls: readonly ToolCallInput[];
  /** What the model said, without a directive that was understood. */
  readonly text: string;
}

export function stepEvents(step: FinishedStep): StepEvents {
  return step.error === undefined ? completedStep(step) : failedStep(step, step.error);
}

/** What a failed step read stays unread, and what it said is not kept: the next attempt answers anew. */
function failedStep(
  { spanId, usage, modelSteps, wasInterrupted, bound, ...step }: FinishedStep,
  error: RunFailure,
): StepEvents {
  const outcome = error.kind === 'aborted' ? 'aborted' : 'failed';
  const completed: SessionEventDraft = {
    type: 'span.completed',
    data: { spanId, kind: 'model_step', outcome, modelSteps, error, ...withUsage(usage) },
  };
  if (wasInterrupted !== true) return { drafts: [completed], calls: [], text: '' };
  const text = saidIn(step.payloads) || (step.streamedText ?? '');
  const consumed: SessionEventDraft[] =
    step.consumed.length === 0 ? [] : [{ type: 'message.consumed', data: { eventIds: [...step.consumed], spanId } }];
  const said: SessionEventDraft[] =
    text === '' ? [] : [{ type: 'agent.message', data: { text, spanId, partial: true } }];
  // What the log counts as read and said is what the backend's session has seen.
  return { drafts: [...consumed, ...said, ...(bound === undefined ? [] : [bound]), completed], calls: [], text };
}

function saidIn(payloads: readonly RunPayload[]): string {
  return payloads.flatMap((payload) => (payload.type === 'text' ? [payload.text] : [])).join('\n\n');
}

function completedStep({ spanId, payloads, usage, modelSteps, consumed, newCallId, bound }: FinishedStep): StepEvents {
  const said = saidIn(payloads);
  const structured = payloads.flatMap((payload) => (payload.type === 'directive' ? [payload.directive] : []));
  const reading = readDirective({ text: said, structured });
  // One more than are run, whose result tells the model so: a thousand would fill its context, which then nothing could
  // empty.
  const asked = payloads.filter((payload) => payload.type === 'tool_call').slice(0, MAX_TOOL_CALLS_PER_STEP + 1);
  const calls = asked.map((payload): ToolCallInput => ({
    callId: newCallId(),
    name: beginningOf(payload.name, MAX_TOOL_NAME_CHARACTERS),
    input: asStored(payload.input ?? {}),
  }));
  const drafts: SessionEventDraft[] = [];
  if (consumed.length > 0) drafts.push({ type: 'message.consumed', data: { eventIds: [...consumed], spanId } });
  drafts.push(...saidEvents({ payloads, text: reading.text, calls, spanId }));
  if (reading.kind === 'accepted')
    drafts.push({ type: 'directive.accepted', data: { directive: reading.directive, spanId } });
  if (reading.kind === 'malformed')
    drafts.push({ type: 'directive.rejected', data: { reason: reading.reason, received: reading.received, spanId } });
  if (bound !== undefined) drafts.push(bound);
  drafts.push({
    type: 'span.completed',
    data: { spanId, kind: 'model_step', outcome: 'completed', modelSteps, ...withUsage(usage) },
  });
  return { drafts, calls, text: reading.text };
}

interface Saying {
  readonly payloads: readonly RunPayload[];
  /** All texts, without a directive that was understood. */
  readonly text: string;
  readonly calls: readonly ToolCallInput[];
  readonly spanId: string;
}

/**
 * Thoughts stay where they were thought: providers refuse to read them in another order. All that was said is one
 * message, where it began.
 */
function saidEvents({ payloads, text, calls, spanId }: Saying): SessionEventDraft[] {
  const left = [...calls];
  let isSaid = text === '';
  return payloads.flatMap((payload): SessionEventDraft[] => {
    if (payload.type === 'reasoning' && (payload.text !== '' || payload.opaque !== undefined))
      return [
        {
          type: 'agent.thinking',
          data: { text: payload.text, spanId, ...(payload.opaque === undefined ? {} : { opaque: payload.opaque }) },
        },
      ];
    if (payload.type === 'text' && !isSaid) {
      isSaid = true;
      return [{ type: 'agent.message', data: { text, spanId } }];
    }
    const call = payload.type === 'tool_call' ? left.shift() : undefined;
    return call === undefined ? [] : [{ type: 'agent.tool_use', data: { ...call, spanId } }];
  });
}

function withUsage(usage: RunUsage | undefined): { readonly usage?: RunUsage } {
  return usage === undefined ? {} : { usage };
}

/** As a later process will read it: what is asked of a person now must be what runs then. It is known to be JSON. */
function asStored(input: unknown): unknown {
  return JSON.parse(JSON.stringify(input));
}
