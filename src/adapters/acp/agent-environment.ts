/** The environment of an agent: what programs need, what somebody named, and one account. Nothing else of ours, and not what its commands get. */
import { realpathSync } from 'node:fs';
import type { RunCredential } from '../../actors/run/agent-runtime.ts';
import { commandEnvironment } from '../../machines/turn/shell/environment.ts';
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import { RunFailed } from './run-failed.ts';
import type { AcpSettings } from './acp-settings.ts';

/** Ours: what they hold is none of an agent's business. */
const OUR_VARIABLES = /^WAKECHART_/;
/** Of what is passed on by name, what is taken for a secret. */
const NAME_OF_A_SECRET = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;

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

/** @throws RunFailed `format` when nobody has said where a secret belongs */
export function agentEnvironment({ host, settings, credential, workspaceDir }: AgentEnvironmentOptions): AgentEnvironment {
  const { pass, set, options } = settings;
  const account = accountOf(options.secretVariable, credential);
  const own = withoutOurs({ ...commandEnvironment(host, { pass, set }), ...credential?.environment, ...account });
  const passed = pass.filter((name) => NAME_OF_A_SECRET.test(name)).flatMap((name): [string, string][] => (own[name] === undefined ? [] : [[name, own[name]]]));
  return {
    variables: { ...own, PATH: pathOutside(workspaceDir, own['PATH'] ?? '') },
    commandVariables: { ...withoutOurs(commandEnvironment(host)), PATH: pathOutside(workspaceDir, host['PATH'] ?? '') },
    secrets: new Map([...passed, ...Object.entries(account)]),
  };
}

function accountOf(variable: string | undefined, credential: RunCredential | undefined): Readonly<Record<string, string>> {
  if (credential?.secret === undefined) return {};
  if (variable === undefined) {
    throw new RunFailed('format', `the account "${credential.profileId}" has a secret, but nobody has said in which variable the agent wants it: set options.secretVariable of the provider`);
  }
  return { [variable]: credential.secret };
}

function withoutOurs(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !OUR_VARIABLES.test(name)));
}

/** The agent may write into its workspace: no program is found there by its mere name. */
function pathOutside(workspaceDir: string, path: string): string {
  const workspace = `${realPathOf(workspaceDir)}/`;
  const entries = path.split(':').filter((entry) => entry.startsWith('/') && !`${realPathOf(entry)}/`.startsWith(workspace));
  return entries.length === 0 ? '/usr/local/bin:/usr/bin:/bin' : entries.join(':');
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
