/** URLs of databases: which text is one, and what of it may be shown to people. */

/** What comes behind the authority: its path, its parameters, its fragment. */
const BEHIND_AUTHORITY = /^postgres(?:ql)?:\/\/[^/?#]*(?<rest>[^]*)$/;

/**
 * Whether it is read as it was meant. In `postgres://user:7/secret@host/db` the password ends the authority, and what follows would be shown as the
 * name of a database: an "@" that ends no password has to be percent-encoded.
 */
export function isPostgresUrl(text: string): boolean {
  const rest = BEHIND_AUTHORITY.exec(text)?.groups?.['rest'];
  return rest !== undefined && !rest.includes('@') && URL.canParse(text);
}

/** The URL without user and password, for people. */
export function shownUrl(url: string): string {
  if (!isPostgresUrl(url)) return 'postgres://…';
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
