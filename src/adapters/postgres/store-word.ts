/** Which database is meant, as a word of a command that may be shown and typed again. */
import type { PostgresPlace } from './postgres-options.ts';
import { isPostgresUrl } from './postgres-url.ts';

/** Stands for what has to be filled in: a URL that holds a password is not shown. */
const NOT_SHOWN = 'URL';

export function storeWord({ url, schema }: Pick<PostgresPlace, 'url' | 'schema'>): string {
  if (!isPostgresUrl(url)) return NOT_SHOWN;
  const { username, password, host, pathname, search } = new URL(url);
  // Passwords come as parameters too.
  if (password !== '' || search !== '') return NOT_SHOWN;
  return `postgres://${username === '' ? '' : `${username}@`}${host}${pathname}${schema === undefined ? '' : `?schema=${schema}`}`;
}
