/**
 * Which files a search by pattern, type or ignore file reaches though their names begin with a dot, and which of these
 * hold secrets.
 */
import { hasSecretName } from './sensitive-path.ts';

/**
 * What files are called that hold no secrets. A type or a glob has rg read hidden files too that fit it, and
 * `.env.local` and `.bashrc` are such files.
 */
export const FILE_TYPES =
  '[cm]?[jt]sx?|py|pyi|rb|rs|go|java|kt|c|h|cc|cpp|hpp|cs|swift|php|scala|lua|ex|exs|hs|ml|dart|vue|svelte|css|scss|less|html|md|mdx|rst|txt|json|ya?ml|toml|xml|sql|proto|graphql|' +
  'rust|python|ruby|kotlin|csharp|cmake|make|markdown|haskell|ocaml|elixir|protobuf';

const HARMLESS_ENDING = new RegExp(`^\\*\\.(?:${FILE_TYPES}|code-snippets)$`);
/** Kept in repositories to be copied. */
const SAMPLE = /^\*?\.env\.(?:example|sample|template|dist|defaults?)$/;

/**
 * Whether a line of an ignore file may have rg read secrets: what it takes back in (`!.env`) is read though it is
 * hidden.
 */
export function takesInSecrets(line: string): boolean {
  if (!line.startsWith('!')) return false;
  const segments = line
    .slice(1)
    .trimEnd()
    .split('/')
    .filter((segment) => segment !== '' && segment !== '**');
  return segments.length === 0 || segments.some(mayNameSecret);
}

function mayNameSecret(segment: string): boolean {
  if (SAMPLE.test(segment) || HARMLESS_ENDING.test(segment)) return false;
  return /[*?[\\]/.test(segment) ? !/^[A-Za-z0-9_-]/.test(segment) : hasSecretName(segment);
}
