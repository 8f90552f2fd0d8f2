/** The bounds of retrieval, by name. */

/** Characters of one document; a longer message is several. */
export const MAX_DOCUMENT_CHARACTERS = 1_200;

/** Documents that one message or summary becomes at most. Its middle is left out beyond that. */
export const MAX_PASSAGES = 8;

/** Documents that are kept of one session; the oldest traces go first, then the oldest messages. */
export const MAX_DOCUMENTS_PER_SESSION = 2_000;

/** Documents of all sessions of one agent; the sessions that were idle longest are left out beyond that. */
export const MAX_DOCUMENTS_PER_AGENT = 200_000;

/** Open calls of a session whose input is remembered until their result comes. */
export const MAX_REMEMBERED_CALLS = 64;

/** Characters of a query. */
export const MAX_QUERY_CHARACTERS = 500;

/** Different words of a query that count. */
export const MAX_QUERY_TERMS = 32;

/** Candidates of one search. */
export const DEFAULT_CANDIDATES = 8;
export const MAX_CANDIDATES = 20;

/** Characters of the evidence of one candidate. */
export const MAX_EVIDENCE_CHARACTERS = 320;

/** What the text search gives to the ranking. */
export const MAX_HITS = 200;
