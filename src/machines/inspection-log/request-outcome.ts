/** What became of a request, by the events of a session's log. */
import type { SessionEvent, SessionEventOf, SessionEventType } from '../session/session-event.ts';

const SCOPES = { once: 'this once', session: 'for the session', always: 'always' } as const;

/** What was decided; what was acted upon later says the same, or that no decision came in time. */
const SENTENCES: { readonly [Type in SessionEventType]?: (event: SessionEventOf<Type>) => string | undefined } = {
  'user.tool_confirmation': ({ data: { allowed, scope, note } }) =>
    allowed ? `It was allowed ${SCOPES[scope ?? 'once']}.` : `It was denied${note === undefined ? '.' : `: ${note}`}`,
  'user.answer': ({ data }) => `It was answered: ${data.response}`,
  'user.custom_tool_result': () => 'Its result was given.',
  'request.cancelled': ({ data }) =>
    `It was taken back: ${data.because === 'interrupt' ? 'a client interrupted the session' : data.because === 'fork' ? 'the session is a copy' : 'the session ended'}.`,
  'permission.resolved': ({ data }) =>
    data.decision === 'expired' ? 'No answer came in time: the call was denied.' : undefined,
};

const MAX_CHARACTERS = 1_000;

/** As a sentence, cut where it is long. Undefined: the event settles none. */
export function outcomeTold(event: SessionEvent): string | undefined {
  // The lookup by type ties the event and its sentence together, which the compiler cannot follow through a computed
  // key.
  return (SENTENCES[event.type] as ((event: SessionEvent) => string | undefined) | undefined)?.(event)?.slice(
    0,
    MAX_CHARACTERS,
  );
}
