/**
 * The steps of a session as a conversation: what was said, which tools were called and what came of it, and what moved
 * the session.
 */
import type { CallChange } from '../../../machines/inspection-log/transcript-calls.ts';
import type { TranscriptBody, TranscriptStep } from '../../../machines/inspection-log/transcript-step.ts';

export interface Entry extends TranscriptBody {
  /** Of the event that it begins with. */
  readonly seq: number;
  readonly type: string;
  readonly t?: number | undefined;
  readonly call?: Call | undefined;
}

export interface Call extends CallChange {
  /** It was asked for in an entry before: what was said about it meanwhile stands between. */
  readonly isResumed?: true | undefined;
}

/** @param steps in the order of the log, without a gap */
export function transcriptOf(steps: readonly TranscriptStep[]): readonly Entry[] {
  const entries: Entry[] = [];
  const places = new Map<string, number>();
  const asked = new Map<string, string>();
  for (const { seq, type, t, entry, call, callId, requestId } of steps) {
    const event = { seq, type, t };
    const id = callId ?? asked.get(requestId ?? '');
    if (call !== undefined && id !== undefined) {
      if (requestId !== undefined) asked.set(requestId, id);
      const place = places.get(id) ?? -1;
      const known = entries[place];
      const isResumed = known?.call?.state === 'allowed' && type === 'agent.tool_started';
      if (known !== undefined && !isResumed) entries[place] = { ...known, call: { ...known.call, ...call } };
      else if (known !== undefined || call.name !== undefined) {
        places.set(id, entries.length);
        entries.push({
          ...event,
          kind: 'call',
          title: known?.title ?? call.name ?? '',
          call: { ...known?.call, ...call, ...(isResumed ? { isResumed } : {}) },
        });
      }
    }
    if (entry !== undefined) entries.push({ ...event, ...entry });
  }
  return entries;
}

/** What became of a request that waits no more. Undefined: the log does not say. */
export function outcomeOf(steps: readonly TranscriptStep[], requestId: string): TranscriptStep | undefined {
  return steps.findLast((step) => step.requestId === requestId && step.outcome !== undefined);
}
