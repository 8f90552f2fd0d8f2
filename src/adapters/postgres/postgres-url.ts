/** URLs of databases: which text is one, and what of it may be shown to people. */
import { decoded } from '../../machines/vault/secret-parts.ts';

/** What comes behind the authority: its path, its parameters, its fragment. */
const BEHIND_AUTHORITY = /^postgres(?:ql)?:\/\/[^/?#]*(?<rest>[^]*)$/;

/**
 * Whether it is read as it was meant. In `postgres://user:7/secret@host/db` the password ends the authority, and what
 * follows would be shown as the name of a database: an "@" that ends no password has to be percent-encoded.
 */
export function isPostgresUrl(text: string): boolean {
  const rest = BEHIND_AUTHORITY.exec(text)?.groups?.['rest'];
  return rest !== undefined && !rest.includes('@') && URL.canParse(text);
}

/** What may stand behind the "?" for the driver. */
const DRIVER_WORDS: readonly string[] = [
  'application_name',
  'client_encoding',
  'fallback_application_name',
  'host',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'options',
  'password',
  'port',
  'ssl',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslnegotiation',
  'sslrootcert',
  'statement_timeout',
  'uselibpqcompat',
  'user',
];

const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * What is wrong with the words behind the "?": the driver passes over what it does not know, and a user who mistyped a
 * word would believe that it holds.
 * @param ours words that are ours @returns the end of a sentence that begins with "expected"; undefined when nothing is
 * wrong
 */
export function wordsProblem(url: string, ours: readonly string[] = []): string | undefined {
  const { searchParams } = new URL(url);
  const known = [...ours, ...DRIVER_WORDS];
  const unknown = [...new Set(searchParams.keys())].filter((word) => !known.includes(word));
  // A word may be half of a password that was not encoded.
  if (unknown.length > 0)
    return `words that are known behind the "?" of the URL, received ${unknown.length === 1 ? 'one' : String(unknown.length)} that ${unknown.length === 1 ? 'is' : 'are'} not${named(unknown)}. Known are ${known.join(', ')}`;
  const mode = searchParams.get('sslmode');
  return mode === null || SSL_MODES.includes(mode) ? undefined : `sslmode to be one of ${SSL_MODES.join(', ')}`;
}

function named(words: readonly string[]): string {
  const plain = words.filter((word) => /^[a-z][a-z_]{0,40}$/i.test(word));
  return plain.length === 0 ? '' : ` (${plain.join(', ')})`;
}

/** The URL without user and password, for people. */
export function shownUrl(url: string): string {
  if (!isPostgresUrl(url)) return 'postgres://…';
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

// What of a database's URL no reader may see.

/**
 * The password as it is written and as it is meant. One that is the name of something there as well, such as that of
 * the user, is left out: it could not be taken out of a text without tearing out the name.
 * @param others words from elsewhere that may be its password
 */
export function secretsOfUrl(url: string, others: readonly string[] = []): readonly string[] {
  if (!isPostgresUrl(url)) return [];
  const { username, password, host, pathname, searchParams } = new URL(url);
  const names = `${username} ${host}${pathname} wakechart postgres password`.toLowerCase();
  const written = [password, searchParams.get('password') ?? '', ...others];
  return [...new Set(written.flatMap((word) => [word, decoded(word)]))].filter(
    (word) => word !== '' && !names.includes(word.toLowerCase()),
  );
}
