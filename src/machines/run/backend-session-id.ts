/** The ids that backends give to sessions of their own. They make them up as they like; the log takes only some. */
import { cutText } from '../cut-text.ts';

export const MAX_BACKEND_SESSION_ID_CHARACTERS = 1_000;

/** Half of a pair cannot be stored. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Whether a session can be taken up again by this id. Without one the next turn begins a new session. */
export function isBackendSessionId(id: unknown): id is string {
  return (
    typeof id === 'string' &&
    id !== '' &&
    id.length <= MAX_BACKEND_SESSION_ID_CHARACTERS &&
    id.search(LONE_SURROGATES) === -1
  );
}

/** Of the sentence that says why a session was begun anew. */
const MAX_REASON_CHARACTERS = 500;

/** The sentence, bounded. */
export function reasonForNewSession(sentence: string): string {
  return cutText(sentence.replace(LONE_SURROGATES, '\uFFFD'), MAX_REASON_CHARACTERS);
}
