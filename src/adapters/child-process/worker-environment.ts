/** The environment of a worker: an allow-list, what its owner named, and the keys of the providers that it may need. Nothing else of ours. */
import { entryOf, secretsAmong } from '../../machines/run/agent-variables.ts';
import { Redaction } from '../../machines/run/redaction.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';

/** Who commits, and where git looks for its settings. */
const GIT_NAMES = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_NOSYSTEM', 'GIT_CONFIG_SYSTEM', 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];
/** Ours that say how a runtime behaves. Not those by which processes are found: they are set for each tree. */
const OUR_NAMES = ['WAKECHART_HOME', 'WAKECHART_DEBUG', 'WAKECHART_PASS_ENV'];
/** Variables whose values a runtime hands on to commands. */
const PASSED_ON = 'WAKECHART_PASS_ENV';

export interface WorkerEnvironmentOptions {
  readonly host: HostEnvironment;
  /** Set for the worker; they win. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of the variables that hold keys. */
  readonly keyVariables: readonly string[];
}

export interface WorkerEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Takes the values of its secrets out of what the worker says. */
  readonly redaction: Redaction;
}

export function workerEnvironment({ host, env, keyVariables }: WorkerEnvironmentOptions): WorkerEnvironment {
  const passedOn = (host[PASSED_ON] ?? '').split(',').map((name) => name.trim());
  const pass = [...GIT_NAMES, ...OUR_NAMES, ...passedOn, ...keyVariables];
  const variables = commandEnvironment(host, { pass, set: env });
  const keys = keyVariables.flatMap((name) => entryOf(name, variables));
  const secrets = new Map([...keys, ...secretsAmong([...passedOn, ...Object.keys(env)], variables)]);
  return { variables, redaction: new Redaction(secrets) };
}
