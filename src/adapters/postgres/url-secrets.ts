/** What of a database's URL no reader may see. */
import { decoded } from '../../machines/vault/secret-parts.ts';
import { isPostgresUrl } from './postgres-url.ts';

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
