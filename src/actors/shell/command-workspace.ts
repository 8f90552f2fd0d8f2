/** A command and the workspace it runs in: what it gets of the environment, and whether its folder is still the one that was allowed. */
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { commandEnvironment, workspaceEnvironment } from '../../machines/turn/shell/environment.ts';
import type { CommandEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import type { ToolContext } from '../turn/tool.ts';
import { folderChanged } from './shell-errors.ts';
import type { ShellHost } from './shell-host.ts';

export type WorkspaceHost = Pick<ShellHost, 'environment' | 'resolveInside' | 'leadsThrough'>;

/** Where a call happens. */
type CommandPlace = Pick<ToolContext, 'session' | 'workspaceDirectory'>;

/** The whole environment of a command in a workspace. @throws what the host throws when the workspace is not there */
export function environmentIn({ session, workspaceDirectory }: CommandPlace, host: WorkspaceHost, settings: CommandEnvironmentSettings): Readonly<Record<string, string>> {
  const folder = host.resolveInside(workspaceDirectory, '.');
  return workspaceEnvironment(commandEnvironment(host.environment(), settings), { folder, isGiven: session.workspace === workspaceDirectory, reaches: (path) => host.leadsThrough(folder, path) });
}

/** Somebody may have put a link in place of the folder since. @throws RuntimeError FOLDER_CHANGED */
export function requireAllowedFolder(subject: PermissionSubject | undefined, folder: string): void {
  const allowed = allowedFolder(subject);
  if (allowed !== undefined && allowed !== folder) throw folderChanged({ allowed, folder });
}

function allowedFolder(subject: PermissionSubject | undefined): string | undefined {
  if (subject?.kind === 'shell') return subject.cwd;
  return subject?.kind === 'path' ? subject.path : undefined;
}
