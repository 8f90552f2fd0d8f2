/** Closes what a wake that did not come to its end left open in the log. Nothing of it is run again. */
import { MAX_FAILURES_IN_A_ROW, MAX_SUMMARY_CHARACTERS, MAX_TOOL_CALL_ATTEMPTS } from '../session/limits.ts';
import type { SessionEventDraft } from '../session/session-event.ts';
import type { OpenToolCall, SessionState } from '../session/session-state.ts';
import { UNKNOWN_RESULT } from '../turn/transcript.ts';

const NOT_STARTED = 'The turn ended before this call was started. It has had no effect.';

/**
 * Results for the calls that began or would have, and an end for the open span. Calls that wait for an answer, or for
 * their turn, stay. With `retries`, a call of an idempotent tool is to be run again instead.
 */
export function closingEvents(
  { openToolCalls, openSpanId }: Pick<SessionState, 'openToolCalls' | 'openSpanId'>,
  { retries = false } = {},
): SessionEventDraft[] {
  const results = openToolCalls.flatMap((call): SessionEventDraft[] => {
    if (call.by === 'backend') return abandoned(call);
    if (call.phase === 'started')
      return [(retries ? requeued(call) : undefined) ?? result(call, 'unknown', UNKNOWN_RESULT)];
    return call.phase === 'requested' ? [result(call, 'cancelled', NOT_STARTED)] : [];
  });
  const span: SessionEventDraft[] =
    openSpanId === undefined
      ? []
      : [{ type: 'span.completed', data: { spanId: openSpanId, kind: 'model_step', outcome: 'lost', modelSteps: 0 } }];
  return [...results, ...span];
}

/** A call that the backend ran itself: it goes on with nothing, whatever the answer. */
export function abandoned(call: OpenToolCall): SessionEventDraft[] {
  const { phase, request } = call;
  if (phase === 'started' || phase === 'requested') return [result(call, 'unknown', UNKNOWN_RESULT)];
  const asked: SessionEventDraft[] =
    phase === 'waiting' && request?.kind === 'permission'
      ? [{ type: 'request.cancelled', data: { requestId: request.requestId, because: 'ended' } }]
      : [];
  return [...asked, result(call, 'cancelled', NOT_STARTED)];
}

/**
 * What a client that cuts a session short takes back: every request to a person or client, and the calls that would
 * have gone on with the answers.
 */
export function cancellingEvents(
  { openToolCalls, pendingActions }: SessionState,
  because: 'interrupt' | 'fork',
): SessionEventDraft[] {
  const requests = pendingActions.map(({ requestId }): SessionEventDraft => ({
    type: 'request.cancelled',
    data: { requestId, because },
  }));
  const held = openToolCalls.filter(({ phase }) => phase === 'waiting' || phase === 'answered');
  return [...requests, ...held.map((call) => result(call, 'cancelled', cutShort(call)))];
}

/** What the model has to know of a call that is taken back: a client may have done what it asked for. */
function cutShort({ request, answer }: OpenToolCall): string {
  if (request?.kind === 'subflow')
    return `The turn was cut short while another agent worked on this call (session ${request.childSessionId}). What it has done stays done: check before you ask for it again.`;
  if (request?.kind !== 'custom_tool') return NOT_STARTED;
  return answer === undefined
    ? 'The turn was cut short while a client was to run this call. Whether it did is not known: check before you ask for it again.'
    : 'The turn was cut short after a client had run this call and sent its result, which was not read. Do not ask for it again without checking.';
}

/**
 * What a new wake says about the one before it, when that one died. `survivors` says what it left running that could
 * not be ended.
 */
export function lostWakeEvents(state: SessionState, survivors?: string): SessionEventDraft[] {
  const { openWake } = state;
  if (openWake === undefined) return closingEvents(state);
  const isInterrupted = openWake.interruption !== undefined;
  const left = survivors === undefined ? '' : ` What it left running may still be at work: ${survivors}.`;
  const summary =
    `The process of this wake (${openWake.owner}) died, or did not answer for longer than its lease, before the wake ended.${left}`.slice(
      0,
      MAX_SUMMARY_CHARACTERS,
    );
  return [
    ...closingEvents(state, { retries: !isInterrupted }),
    // It may have asked for something after it was cut short.
    ...(isInterrupted ? cancellingEvents(state, 'interrupt') : []),
    {
      type: 'wake.ended',
      data: {
        wakeId: openWake.wakeId,
        outcome: isInterrupted ? 'interrupted' : 'lost',
        summary,
        modelSteps: openWake.steps,
        completedWakeIds: [],
      },
    },
  ];
}

/** The calls that `lostWakeEvents` closes, with what each came to. */
export function closedByRepair(
  state: SessionState,
): { readonly call: OpenToolCall; readonly outcome: 'unknown' | 'cancelled'; readonly reason: string }[] {
  return lostWakeEvents(state).flatMap(({ type, data }) => {
    const call =
      type === 'agent.tool_result' ? state.openToolCalls.find(({ callId }) => callId === data.callId) : undefined;
    return call === undefined || type !== 'agent.tool_result'
      ? []
      : [
          {
            call,
            outcome: data.outcome === 'unknown' ? ('unknown' as const) : ('cancelled' as const),
            reason: String(data.output),
          },
        ];
  });
}

/** Whether one more wake that dies would be one too many: whatever kills them is in the session. */
export function isPoison({ openWake, failuresInARow }: SessionState): boolean {
  return openWake !== undefined && openWake.interruption === undefined && failuresInARow + 1 >= MAX_FAILURES_IN_A_ROW;
}

function requeued({ callId, ifLost, attempt = 1 }: OpenToolCall): SessionEventDraft | undefined {
  return ifLost === 'retry' && attempt < MAX_TOOL_CALL_ATTEMPTS
    ? { type: 'agent.tool_requeued', data: { callId, attempt: attempt + 1 } }
    : undefined;
}

function result({ callId, name }: OpenToolCall, outcome: 'unknown' | 'cancelled', output: string): SessionEventDraft {
  return { type: 'agent.tool_result', data: { callId, name, outcome, output } };
}
