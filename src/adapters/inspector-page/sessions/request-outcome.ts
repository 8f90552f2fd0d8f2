/** What became of a request that waits no more, by the log. */
import type { SessionEvent, SessionEventOf, SessionEventType } from '../../../machines/session/session-event.ts';

export interface RequestOutcome {
  /** As a sentence. */
  readonly text: string;
  /** Number of the event that says so. */
  readonly seq?: number;
}

const UNKNOWN = 'It needs no answer any more.';
const SCOPES = { once: 'this once', session: 'for the session', always: 'always' } as const;

/** What was decided; what was acted upon later says the same, or that nobody decided in time. */
const SENTENCES: { readonly [Type in SessionEventType]?: (event: SessionEventOf<Type>) => string | undefined } = {
  'user.tool_confirmation': ({ data: { allowed, scope, note } }) => (allowed ? `It was allowed ${SCOPES[scope ?? 'once']}.` : `It was denied${note === undefined ? '.' : `: ${note}`}`),
  'user.answer': ({ data }) => `It was answered: ${data.response}`,
  'user.custom_tool_result': () => 'Its result was given.',
  'request.cancelled': ({ data }) => `It was taken back: ${data.because === 'interrupt' ? 'somebody interrupted the session' : data.because === 'fork' ? 'the session is a copy' : 'the session ended'}.`,
  'permission.resolved': ({ data }) => (data.decision === 'expired' ? 'Nobody answered in time: the call was denied.' : undefined),
};

export function outcomeOfRequest(events: readonly SessionEvent[], requestId: string): RequestOutcome {
  for (const event of events.toReversed()) {
    if (!('requestId' in event.data) || event.data.requestId !== requestId) continue;
    // The lookup by type ties the event and its sentence together, which the compiler cannot follow through a computed key.
    const text = (SENTENCES[event.type] as ((event: SessionEvent) => string | undefined) | undefined)?.(event);
    if (text !== undefined) return { text, seq: event.seq };
  }
  return { text: UNKNOWN };
}
