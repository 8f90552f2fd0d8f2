/**
 * Tests begin without the variables that a user of Wakechart has set: a home, a store, keys of models, a repository
 * that a git hook works in. The commands that they start inherit none of them either. Certificates of the user's own
 * would say nothing to them, and Node reads all of them whenever it starts: a third of the time of a short process.
 */

/** Those that say something to the tests themselves. */
const FOR_TESTS: ReadonlySet<string> = new Set([
  'WAKECHART_TEST_POSTGRES',
  'WAKECHART_PROPERTY_RUNS',
  'WAKECHART_PROPERTY_SEED',
  'WAKECHART_WRITE_HISTORIES',
]);

const FOREIGN =
  /^(?:NODE_EXTRA_CA_CERTS$|WAKECHART_|CLAUDE|CODEX_|GIT_|PG|OTEL_)|_(?:API_KEY|AUTH_TOKEN|OAUTH_TOKEN|BASE_URL)$/;

export function isForeign(name: string): boolean {
  return FOREIGN.test(name) && !FOR_TESTS.has(name);
}

export function removeForeignVariables(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (isForeign(name)) delete environment[name];
}
