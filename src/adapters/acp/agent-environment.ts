/**
 * The environment of an agent: what programs need, what the user named, and one account. Nothing else of ours, and not
 * what its commands get.
 */
import type { RunCredential } from '../../actors/run/agent-runtime.ts';
import { pathOutside, secretsAmong, withoutOurVariables } from '../../machines/run/agent-variables.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { realPathOrItself } from '../system/real-path.ts';
import { CLOSING_VARIABLES } from './closed-workspace.ts';
import { RunFailed } from './run-failed.ts';
import type { AcpSettings } from './acp-settings.ts';

export interface AgentEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** For commands that run in its terminals: without its account, and without what was only passed to the agent. */
  readonly commandVariables: Readonly<Record<string, string>>;
  /** Values that must not be told, by the names of their variables. */
  readonly secrets: ReadonlyMap<string, string>;
}

export interface AgentEnvironmentOptions {
  readonly host: HostEnvironment;
  readonly settings: AcpSettings;
  readonly credential: RunCredential | undefined;
  readonly workspaceDir: string;
}

/** @throws RunFailed `format` when the provider does not say where a secret belongs */
export function agentEnvironment({
  host,
  settings,
  credential,
  workspaceDir,
}: AgentEnvironmentOptions): AgentEnvironment {
  const { pass, set, options } = settings;
  const account = accountOf(options.secretVariable, credential);
  const own = withoutOurVariables({
    ...commandEnvironment(host, { pass, set: { ...CLOSING_VARIABLES, ...set } }),
    ...credential?.environment,
    ...account,
  });
  const searched = (path = ''): string => pathOutside({ path, workspaceDir, realPathOf: realPathOrItself });
  return {
    variables: { ...own, PATH: searched(own['PATH']) },
    commandVariables: { ...withoutOurVariables(commandEnvironment(host)), PATH: searched(host['PATH']) },
    secrets: new Map([...secretsAmong(pass, own), ...Object.entries(account)]),
  };
}

function accountOf(
  variable: string | undefined,
  credential: RunCredential | undefined,
): Readonly<Record<string, string>> {
  if (credential?.secret === undefined) return {};
  if (variable === undefined) {
    throw new RunFailed(
      'format',
      `the account "${credential.profileId}" has a secret, but its provider does not say in which variable the agent wants it: set options.secretVariable of the provider`,
    );
  }
  return { [variable]: credential.secret };
}
