/** A tool of a backend in our own terms: what it would do is judged by the rules for our tool of that kind, and where nobody can tell it asks. */
import { anyInput } from '../../machines/turn/tool-definition.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import type { RunToolMeaning } from '../run/agent-runtime.ts';
import type { Tool } from '../turn/tool.ts';

export interface BackendToolQuestion {
  readonly name: string;
  readonly means: RunToolMeaning | undefined;
  readonly tools: readonly Tool[];
  readonly workspaceDirectory: string;
}

const OURS = { command: 'shell_run', read: 'read', write: 'write' } as const;

export function backendTool({ name, means, tools, workspaceDirectory }: BackendToolQuestion): { readonly tool: Tool; readonly subject: PermissionSubject } {
  const ours = means === undefined ? undefined : tools.find(({ definition }) => definition.name === OURS[means.kind]);
  if (means === undefined || ours === undefined) return { tool: unknownTool(name), subject: { kind: 'tool' } };
  return { tool: ours, subject: subjectOf(means, workspaceDirectory) };
}

function subjectOf(means: RunToolMeaning, workspaceDirectory: string): PermissionSubject {
  const cwd = means.cwd ?? workspaceDirectory;
  if (means.kind === 'command') return { kind: 'shell', command: means.command, cwd };
  const path = means.path.startsWith('/') || means.cwd === undefined ? means.path : `${cwd}/${means.path}`;
  return { kind: 'path', path, access: means.kind };
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
