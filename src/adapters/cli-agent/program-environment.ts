/** The environment of a program that runs an agent: what programs need, what somebody named, and one account. Nothing else of ours. */
import { realpathSync } from 'node:fs';
import type { RunCredential } from '../../actors/run/agent-runtime.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import type { CliDialect } from './dialect.ts';

/** Ours: what they hold is none of an agent's business. */
const OUR_VARIABLES = /^WAKECHART_/;
/** Of what is passed on by name, what is taken for a secret. */
const NAME_OF_A_SECRET = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;

export interface ProgramEnvironmentOptions {
  readonly host: HostEnvironment;
  readonly dialect: CliDialect;
  readonly pass: readonly string[];
  readonly set: Readonly<Record<string, string>>;
  readonly credential: RunCredential | undefined;
  readonly workspaceDir: string;
}

export interface ProgramEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Values that must not be told, by the names of their variables. */
  readonly secrets: ReadonlyMap<string, string>;
}

export function programEnvironment({ host, dialect, pass, set, credential, workspaceDir }: ProgramEnvironmentOptions): ProgramEnvironment {
  const given = commandEnvironment(withoutNesting(host, dialect), { pass, set: { ...dialect.defaultVariables, ...set } });
  const variables: Record<string, string> = { ...given };
  if (credential?.secret !== undefined) for (const name of dialect.accountVariables) delete variables[name];
  Object.assign(variables, credential?.environment, accountOf(dialect, credential));
  for (const name of Object.keys(variables)) if (OUR_VARIABLES.test(name)) delete variables[name];
  variables['PATH'] = pathOutside(workspaceDir, variables['PATH'] ?? '');
  return { variables, secrets: secretsIn(variables, { pass, dialect, credential }) };
}

function withoutNesting(host: HostEnvironment, { nestingVariables }: CliDialect): HostEnvironment {
  return Object.fromEntries(Object.entries(host).filter(([name]) => !nestingVariables.includes(name)));
}

function accountOf(dialect: CliDialect, credential: RunCredential | undefined): Readonly<Record<string, string>> {
  return credential?.secret === undefined ? {} : { [dialect.secretVariable(credential.secret)]: credential.secret };
}

function secretsIn(variables: Readonly<Record<string, string>>, { pass, dialect, credential }: Pick<ProgramEnvironmentOptions, 'pass' | 'dialect' | 'credential'>): ReadonlyMap<string, string> {
  const names = [...dialect.accountVariables, ...pass.filter((name) => NAME_OF_A_SECRET.test(name))];
  const values = names.flatMap((name): [string, string][] => (variables[name] === undefined ? [] : [[name, variables[name]]]));
  return new Map([...values, ...(credential?.secret === undefined ? [] : ([[dialect.secretVariable(credential.secret), credential.secret]] as const))]);
}

/** The agent may write into its workspace: no program is found there by its mere name. */
function pathOutside(workspaceDir: string, path: string): string {
  const workspace = `${realPathOf(workspaceDir)}/`;
  return path
    .split(':')
    .filter((entry) => entry !== '' && !`${realPathOf(entry)}/`.startsWith(workspace))
    .join(':');
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
