/** Closes what a wake that did not come to its end left open in the log. Nothing of it is run again. */
import { MAX_SUMMARY_CHARACTERS } from '../session/limits.ts';
import type { SessionEventDraft } from '../session/session-event.ts';
import type { SessionState } from '../session/session-state.ts';
import { UNKNOWN_RESULT } from '../turn/transcript.ts';

/** Results for the open calls and an end for the open span. */
export function closingEvents({ openToolCalls, openSpanId }: SessionState): SessionEventDraft[] {
  const results = openToolCalls.map(
    ({ callId, name }): SessionEventDraft => ({ type: 'agent.tool_result', data: { callId, name, outcome: 'unknown', output: UNKNOWN_RESULT } }),
  );
  const span: SessionEventDraft[] =
    openSpanId === undefined ? [] : [{ type: 'span.completed', data: { spanId: openSpanId, kind: 'model_step', outcome: 'lost', modelSteps: 0 } }];
  return [...results, ...span];
}

/** What a new wake says about the one before it, when that one died. `survivors` says what it left running that could not be ended. */
export function lostWakeEvents(state: SessionState, survivors?: string): SessionEventDraft[] {
  const { openWake } = state;
  if (openWake === undefined) return closingEvents(state);
  const left = survivors === undefined ? '' : ` What it left running may still be at work: ${survivors}.`;
  const summary = `The process of this wake (${openWake.owner}) died before the wake ended.${left}`.slice(0, MAX_SUMMARY_CHARACTERS);
  return [...closingEvents(state), { type: 'wake.ended', data: { wakeId: openWake.wakeId, outcome: 'lost', summary, modelSteps: 0, completedWakeIds: [] } }];
}
