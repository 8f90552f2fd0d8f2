/**
 * A command and the workspace it runs in: what it gets of the environment, how it is shut in, and whether its folder is
 * still the one that was allowed.
 */
import { WORKSPACE_PATH, mountAt } from '../../machines/environment/mount-table.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import {
  checkedEnvironmentSettings,
  commandEnvironment,
  joinedSettings,
  sandboxedEnvironment,
  workspaceEnvironment,
} from '../../machines/turn/shell/environment.ts';
import type { CommandEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import type { ToolContext } from '../turn/tool.ts';
import { folderChanged, noSecretsHere } from './shell-errors.ts';
import type { ShellHost } from './shell-host.ts';

export type WorkspaceHost = Pick<ShellHost, 'environment' | 'resolveInside' | 'leadsThrough'>;

/** Where a call happens. */
export type CommandPlace = Pick<ToolContext, 'session' | 'workspaceDirectory' | 'environment'>;

/** The names of variables, and of the secrets to fill them with. */
export type SecretVariables = Readonly<Record<string, string>>;

/**
 * The whole environment of a command in a workspace. @throws RuntimeError ENVIRONMENT_INVALID, and what the host throws
 * when the workspace is not there
 */
export function environmentIn(
  { session, workspaceDirectory, environment }: CommandPlace,
  host: WorkspaceHost,
  settings: CommandEnvironmentSettings,
): Readonly<Record<string, string>> {
  const folder = host.resolveInside(workspaceDirectory, '.');
  const all =
    environment === undefined
      ? settings
      : joinedSettings(settings, checkedEnvironmentSettings(environment.definition.variables));
  const whole = workspaceEnvironment(commandEnvironment(host.environment(), all), {
    folder,
    isGiven: session.workspace === workspaceDirectory,
    reaches: (path) => host.leadsThrough(folder, path),
  });
  return environment?.sandbox === undefined ? whole : sandboxedEnvironment(whole);
}

/**
 * Their values, for the environment of one command. @throws RuntimeError SECRET_UNKNOWN, SECRET_NOT_FOR_COMMANDS,
 * SECRET_UNAVAILABLE
 */
export function secretsFor(
  { environment }: Pick<CommandPlace, 'environment'>,
  secrets: SecretVariables = {},
): Readonly<Record<string, string>> {
  const named = Object.entries(secrets);
  if (named.length === 0) return {};
  if (environment === undefined) throw noSecretsHere();
  return Object.fromEntries(named.map(([name, reference]) => [name, environment.secrets.forCommand(reference)]));
}

/**
 * The command line of a task: the command itself, or what runs it in the session's sandbox. @param folder a real path
 */
export function commandIn({ environment }: Pick<CommandPlace, 'environment'>, command: string, folder: string): string {
  return environment?.sandbox?.wrapCommand(command, folder) ?? command;
}

/** A folder as the host names it from the workspace: an agent may also call the workspace by the name of its mount. */
export function fromWorkspace({ environment }: Pick<CommandPlace, 'environment'>, path: string): string {
  const isMounted =
    environment?.mounts.some(({ kind, path: mounted }) => kind === 'workspace' && mounted === WORKSPACE_PATH) === true;
  if (!isMounted || (path !== WORKSPACE_PATH && !path.startsWith(`${WORKSPACE_PATH}/`))) return path;
  return `.${path.slice(WORKSPACE_PATH.length)}`;
}

/**
 * Where a folder of a shell lies on the host: in a sandbox, mounts have names of their own. What is only in the sandbox
 * keeps its name.
 */
export function onHost({ environment }: Pick<CommandPlace, 'environment'>, folder: string): string {
  if (environment?.sandbox === undefined) return folder;
  const found = mountAt(environment.mounts, folder);
  if (found?.mount.directory === undefined) return folder;
  return found.rest === '' ? found.mount.directory : `${found.mount.directory}/${found.rest}`;
}

/** A process may have put a link in place of the folder since. @throws RuntimeError FOLDER_CHANGED */
export function requireAllowedFolder(subject: PermissionSubject | undefined, folder: string): void {
  const allowed = allowedFolder(subject);
  if (allowed !== undefined && allowed !== folder) throw folderChanged({ allowed, folder });
}

function allowedFolder(subject: PermissionSubject | undefined): string | undefined {
  if (subject?.kind === 'shell') return subject.cwd;
  return subject?.kind === 'path' ? subject.path : undefined;
}
