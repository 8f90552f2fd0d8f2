/**
 * The environment of a program that runs an agent: what programs need, what the user named, and one account. Nothing
 * else of ours.
 */
import type { RunCredential } from '../../actors/run/agent-runtime.ts';
import { entryOf, pathOutside, secretsAmong, withoutOurVariables } from '../../machines/run/agent-variables.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { realPathOrItself } from '../system/real-path.ts';
import type { CliDialect } from './dialect.ts';

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
  /** What is kept out of them, and told to the program by message. */
  readonly told: Readonly<Record<string, string>>;
  /** Values that must not be told, by the names of their variables. */
  readonly secrets: ReadonlyMap<string, string>;
}

export function programEnvironment({
  host,
  dialect,
  pass,
  set,
  credential,
  workspaceDir,
}: ProgramEnvironmentOptions): ProgramEnvironment {
  const given = commandEnvironment(without(host, dialect.nestingVariables), {
    pass,
    set: { ...dialect.defaultVariables, ...set },
  });
  const others = credential?.secret === undefined ? given : without(given, dialect.accountVariables);
  const own = withoutOurVariables({ ...others, ...credential?.environment, ...accountOf(dialect, credential) });
  const variables = {
    ...own,
    PATH: pathOutside({ path: own['PATH'] ?? '', workspaceDir, realPathOf: realPathOrItself }),
  };
  const { toldVariables } = dialect;
  return {
    variables: without(variables, toldVariables),
    told: Object.fromEntries(toldVariables.flatMap((name) => entryOf(name, variables))),
    secrets: secretsIn(variables, { pass, dialect, credential }),
  };
}

function without<Value>(
  variables: Readonly<Record<string, Value>>,
  names: readonly string[],
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !names.includes(name)));
}

function accountOf(dialect: CliDialect, credential: RunCredential | undefined): Readonly<Record<string, string>> {
  return credential?.secret === undefined ? {} : { [dialect.secretVariable(credential.secret)]: credential.secret };
}

function secretsIn(
  variables: Readonly<Record<string, string>>,
  { pass, dialect, credential }: Pick<ProgramEnvironmentOptions, 'pass' | 'dialect' | 'credential'>,
): ReadonlyMap<string, string> {
  const ofAccounts = dialect.accountVariables.flatMap((name) => entryOf(name, variables));
  return new Map([...ofAccounts, ...secretsAmong(pass, variables), ...Object.entries(accountOf(dialect, credential))]);
}
