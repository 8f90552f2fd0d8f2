/**
 * Which paths a command may not be given without a person being asked: those that lead out of the folder, and those
 * that hold secrets.
 */

/** Names of files and folders in which secrets are kept, as they stand between slashes. */
const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(?:$|rc$|[.-])/,
  /\.env$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)/,
  /^\.(?:ssh|gnupg|gpg|aws|azure|kube|docker|password-store)$/,
  /^[._](?:netrc|npmrc|yarnrc|pypirc|pgpass|htpasswd|git-credentials|my\.cnf|vault-token)/,
  /^(?:credentials?|secrets?)(?:$|\.)/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$/,
  // Remotes may hold passwords, and what git runs is named in there.
  /^\.git$/,
];

/**
 * Whether one part of a path names something that holds secrets. Letter case does not count: on some systems it names
 * the same file.
 */
function isSecretName(segment: string): boolean {
  const name = segment.toLowerCase();
  return SECRET_NAMES.some((pattern) => pattern.test(name));
}

/** Whether any part of the path names something that holds secrets. */
export function hasSecretName(path: string): boolean {
  return segmentsOf(path).some(isSecretName);
}

/** Whether the path may lead out of the folder in which it is read, by how it is written. */
export function leadsOut(path: string): boolean {
  return (
    path.startsWith('/') ||
    path.startsWith('~') ||
    /^[A-Za-z]:/.test(path) ||
    path.includes('\\') ||
    segmentsOf(path).includes('..')
  );
}

/** A colon, as in HEAD:src/a.ts, begins a path of its own. */
function segmentsOf(path: string): string[] {
  return path.split(/[/:]/);
}

/** Signs of the shell in the place of a name: more likely meant for it than for the program. */
export function looksLikeShell(word: string): boolean {
  return /[;&|<>`$\n]/.test(word);
}

/**
 * Why a program should not be given this path unasked; undefined when it stays in the folder and hides nothing. For
 * people.
 */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'an empty path';
  if (path.startsWith('-')) return `"${path}" begins like an option`;
  // For git it may begin at the top of the repository, or leave something out.
  if (path.startsWith(':')) return `"${path}" may mean other paths`;
  if (leadsOut(path)) return `"${path}" may lead out of the folder`;
  if (looksLikeShell(path)) return `"${path}" may be meant for the shell`;
  return hasSecretName(path) ? `"${path}" may hold secrets` : undefined;
}

/**
 * Parts of a path that decide what git runs: a wildcard never stands for them. HEAD makes any folder a repository of
 * its own.
 */
const NEVER_BY_WILDCARD: ReadonlySet<string> = new Set(['.git', 'head']);

export function isNeverMeantByWildcard(segment: string): boolean {
  return NEVER_BY_WILDCARD.has(segment.toLowerCase());
}
