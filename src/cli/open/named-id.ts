/** Ids that a person types: whole, or their first characters where those name one thing and no other. */
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { sessionId } from '../../machines/ids.ts';

/** Of an id, this many characters have to be typed: fewer name something by accident. */
export const MIN_ID_CHARACTERS = 4;

/** More candidates than these do not help. */
const MAX_SHOWN = 8;

export interface TypedId {
  readonly typed: string;
  /** `session`, `job`. */
  readonly what: string;
  readonly ids: readonly string[];
}

/** The id that begins so; what was typed where none does. @throws RuntimeError ID_AMBIGUOUS */
export function idNamed({ typed, what, ids }: TypedId): string {
  if (ids.includes(typed) || typed.length < MIN_ID_CHARACTERS) return typed;
  const found = ids.filter((id) => id.startsWith(typed.toLowerCase()));
  const [only] = found;
  if (only === undefined) return typed;
  if (found.length === 1) return only;
  const newest = found.slice(-MAX_SHOWN).reverse();
  const others = found.length - newest.length;
  throw new RuntimeError('ID_AMBIGUOUS', `${found.length} ids of a ${what} begin with "${typed}"`, {
    category: 'validation',
    hint: `Type more of the one that you mean${others === 0 ? '' : `, such as one of the newest`}:\n${newest.join('\n')}`,
  });
}

/** What could be the beginning of the id of a session or request, and is not all of one. */
export function isShortId(typed: string): boolean {
  return /^[0-9a-f-]+$/i.test(typed) && typed.length >= MIN_ID_CHARACTERS && !sessionId.safeParse(typed).success;
}

/** Inside `withSessions`, so that the error names the sessions that exist. @throws RuntimeError SESSION_NOT_FOUND */
export async function sessionNamed(sessions: Pick<Sessions, 'list'>, typed: string): Promise<string> {
  if (!isShortId(typed)) return typed;
  const found = idNamed({ typed, what: 'session', ids: (await sessions.list()).map((each) => each.sessionId) });
  if (sessionId.safeParse(found).success) return found;
  throw new RuntimeError('SESSION_NOT_FOUND', `there is no session whose id begins with ${JSON.stringify(typed)}`, {
    category: 'not_found',
  });
}
