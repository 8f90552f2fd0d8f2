/** Which paths a command may not be given without somebody being asked: those that lead out of the folder, and those that hold secrets. */

/** Names of files and folders in which secrets are kept, as they stand between slashes. */
const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(?:$|[.-])/,
  /\.env$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)/,
  /^\.(?:ssh|gnupg|gpg|aws|azure|kube|docker|password-store)$/,
  /^[._](?:netrc|npmrc|yarnrc|pypirc|pgpass|htpasswd|git-credentials|my\.cnf|vault-token)/,
  /^(?:credentials?|secrets?)(?:$|\.)/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx)$/,
  // Remotes may hold passwords, and what git runs is named in there.
  /^\.git$/,
];

/** Whether one part of a path names something that holds secrets. Letter case does not count: on some systems it names the same file. */
function isSecretName(segment: string): boolean {
  const name = segment.toLowerCase();
  return SECRET_NAMES.some((pattern) => pattern.test(name));
}

/** Why a program should not be given this path unasked; undefined when it stays in the folder and hides nothing. For people. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'an empty path';
  if (path.startsWith('-')) return `"${path}" begins like an option`;
  if (path.startsWith('/') || path.startsWith('~') || /^[A-Za-z]:/.test(path) || path.includes('\\')) return `"${path}" may lie outside the folder`;
  // A colon, as in HEAD:src/a.ts, begins a path of its own.
  const segments = path.split(/[/:]/);
  if (segments.includes('..')) return `"${path}" leads out of the folder`;
  return segments.some(isSecretName) ? `"${path}" may hold secrets` : undefined;
}

/** Parts of a path that decide what git runs: a wildcard never stands for them. HEAD makes any folder a repository of its own. */
const NEVER_BY_WILDCARD: ReadonlySet<string> = new Set(['.git', 'head']);

export function isNeverMeantByWildcard(segment: string): boolean {
  return NEVER_BY_WILDCARD.has(segment.toLowerCase());
}
