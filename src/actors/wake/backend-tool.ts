/** A tool of a backend in our own terms: what it would do is judged by the rules for our tool of that kind, and where nobody can tell it asks. */
import { anyInput } from '../../machines/turn/tool-definition.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import type { RunToolMeaning } from '../run/agent-runtime.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { Tool } from '../turn/tool.ts';

export interface BackendToolQuestion {
  readonly name: string;
  readonly means: RunToolMeaning | undefined;
  readonly tools: readonly Tool[];
  readonly session: SessionIdentity;
  readonly workspaceDirectory: string;
}

const OURS = { command: 'shell_run', read: 'read', write: 'write' } as const;

export function backendTool({ name, means, tools, session, workspaceDirectory }: BackendToolQuestion): { readonly tool: Tool; readonly subject: PermissionSubject } {
  const ours = means === undefined ? undefined : tools.find(({ definition }) => definition.name === OURS[means.kind]);
  if (means === undefined || ours === undefined) return { tool: unknownTool(name), subject: { kind: 'tool' } };
  const input = inputOf(means, workspaceDirectory);
  // Our tool knows where a path leads: one in the workspace may be a link out of it.
  return { tool: ours, subject: ours.subject?.(input, { session, workspaceDirectory }) ?? plainSubject(means.kind, input, workspaceDirectory) };
}

interface OurInput {
  readonly command?: string;
  readonly path?: string;
  readonly cwd?: string;
}

/** What our tool of that kind would be given. A path begins in the folder, and a folder in the workspace. */
function inputOf(means: RunToolMeaning, workspaceDirectory: string): OurInput {
  const cwd = means.cwd === undefined ? undefined : below(means.cwd, workspaceDirectory);
  if (means.kind === 'command') return { command: means.command, ...(cwd === undefined ? {} : { cwd }) };
  return { path: below(means.path, cwd ?? workspaceDirectory) };
}

function below(path: string, folder: string): string {
  if (path === '') return folder;
  return path.startsWith('/') ? path : `${folder}/${path}`;
}

function plainSubject(kind: RunToolMeaning['kind'], { command = '', path = '', cwd }: OurInput, workspaceDirectory: string): PermissionSubject {
  return kind === 'command' ? { kind: 'shell', command, cwd: cwd ?? workspaceDirectory } : { kind: 'path', path, access: kind };
}

/** Nobody here knows what it does. */
function unknownTool(name: string): Tool {
  return {
    definition: {
      name,
      description: `A tool of the backend: ${name}`,
      inputSchema: anyInput,
      ownership: 'custom',
      permissionPolicy: 'always_ask',
      readOnly: false,
      destructive: true,
      interruptBehavior: 'cancel',
    },
  };
}
