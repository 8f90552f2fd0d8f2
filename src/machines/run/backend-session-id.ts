/** The ids that backends give to sessions of their own. They make them up as they like; the log takes only some. */

export const MAX_BACKEND_SESSION_ID_CHARACTERS = 1_000;

/** Half of a pair cannot be stored. */
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Whether a session can be taken up again by this id. Without one the next turn begins a new session. */
export function isBackendSessionId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= MAX_BACKEND_SESSION_ID_CHARACTERS && id.search(LONE_SURROGATES) === -1;
}

/** Of the sentence that says why a session was begun anew. */
const MAX_REASON_CHARACTERS = 500;

/** The sentence, bounded. */
export function reasonForNewSession(sentence: string): string {
  const text = sentence.replace(LONE_SURROGATES, '\uFFFD');
  return text.length <= MAX_REASON_CHARACTERS ? text : `${text.slice(0, MAX_REASON_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
