/**
 * The environment of a worker: an allow-list, and what its owner named. Nothing else of ours, and no keys: everything
 * that runs as the same user can read what a process was started with. The keys of a job go to its worker over the
 * channel.
 */
import { entryOf, secretsAmong } from '../../machines/run/agent-variables.ts';
import { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { GIT_NAMES, commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';

/** Ours that say how a runtime behaves. Not those by which processes are found: they are set for each tree. */
const OUR_NAMES = ['WAKECHART_HOME', 'WAKECHART_DEBUG', 'WAKECHART_PASS_ENV'];
/** Variables whose values a runtime passes on to commands. */
const PASSED_ON = 'WAKECHART_PASS_ENV';

export interface WorkerEnvironmentOptions {
  readonly host: HostEnvironment;
  /** Set for the worker; they win. */
  readonly env: Readonly<Record<string, string>>;
}

export interface WorkerEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** What of them is secret: values by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

export function workerEnvironment({ host, env }: WorkerEnvironmentOptions): WorkerEnvironment {
  const passedOn = (host[PASSED_ON] ?? '').split(',').map((name) => name.trim());
  const variables = commandEnvironment(host, { pass: [...GIT_NAMES, ...OUR_NAMES, ...passedOn], set: env });
  return { variables, secrets: new Map(secretsAmong([...passedOn, ...Object.keys(env)], variables)) };
}

export interface WorkerKeysOptions {
  readonly host: HostEnvironment;
  readonly environment: WorkerEnvironment;
  /** Names of the variables that hold the keys of one job. */
  readonly names: readonly string[];
}

export interface WorkerKeys {
  /** Those that its environment does not have already. */
  readonly variables: Readonly<Record<string, string>>;
  /** Takes the values of its secrets out of what the worker says. */
  readonly redaction: SecretRedaction;
}

export function workerKeys({ host, environment, names }: WorkerKeysOptions): WorkerKeys {
  const { variables, secrets } = environment;
  const given = Object.fromEntries(
    names.flatMap((name) => (variables[name] === undefined && host[name] !== undefined ? [[name, host[name]]] : [])),
  );
  const values = names.flatMap((name) => entryOf(name, { ...given, ...variables }));
  return { variables: given, redaction: new SecretRedaction(new Map([...secrets, ...values])) };
}
