/**
 * A tool of a backend in our own terms: what it would do is judged by the rules for our tools of that kind, and where
 * that is unknown it asks. Our own tools are kept in the workspace when they run; a backend's are not, so whatever may
 * lie outside asks before.
 */
import { anyInput } from '../../machines/turn/tool-definition.ts';
import { workspacePath } from '../../machines/permission/path-glob.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { isPlainPath } from '../../machines/permission/plain-path.ts';
import type { RunToolMeaning } from '../run/agent-runtime.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { Tool } from '../turn/tool.ts';

export interface BackendToolQuestion {
  readonly name: string;
  readonly means: RunToolMeaning | undefined;
  /** Ours, those of the agent among them. */
  readonly tools: readonly Tool[];
  readonly session: SessionIdentity;
  readonly workspaceDirectory: string;
}

export interface JudgedBackendTool {
  readonly tool: Tool;
  readonly subject: PermissionSubject;
  /** Names of tools whose rules that deny or ask hold too. */
  readonly kin: readonly string[];
  /** Those of them whose rules allow it as well. */
  readonly allowedAs?: readonly string[];
  /** Why a person has to be asked, whatever the rules say. For people. */
  readonly doubt?: string;
  /** Paths besides the subject at which it may change something, from the workspace. */
  readonly changes?: readonly string[];
}

const OURS = { command: 'shell_run', read: 'read', write: 'write' } as const;

/** What is forbidden to one of these is not to be had by a tool of a backend that can do the same. */
const KIN: Readonly<Record<keyof typeof OURS, readonly string[]>> = {
  command: ['shell_run', 'shell_exec'],
  read: ['read', 'grep', 'glob'],
  write: ['write', 'edit'],
};

export function backendTool(question: BackendToolQuestion): JudgedBackendTool {
  const { name, means, tools } = question;
  const ours =
    means === undefined
      ? undefined
      : tools.find(({ definition }) => definition.name === OURS[means.kind === 'unclear' ? means.as : means.kind]);
  if (means === undefined || ours === undefined) return unknownTool(name, tools);
  if (means.kind === 'unclear') return unclearTool(means, question);
  const kin = [...KIN[means.kind], name];
  return means.kind === 'command' ? commandTool(means, ours, kin, question) : fileTool(means, ours, kin, question);
}

type Meaning<Kind extends RunToolMeaning['kind']> = Extract<RunToolMeaning, { readonly kind: Kind }>;

function commandTool(
  means: Meaning<'command'>,
  tool: Tool,
  kin: readonly string[],
  { session, workspaceDirectory }: BackendToolQuestion,
): JudgedBackendTool {
  const { command, keepsShell = false } = means;
  const cwd = folderOf(means, workspaceDirectory);
  const found = tool.subject?.({ command, ...(cwd === undefined ? {} : { cwd }) }, { session, workspaceDirectory }) ?? {
    kind: 'shell',
    command,
    cwd: cwd ?? workspaceDirectory,
  };
  const subject: PermissionSubject = found.kind === 'shell' && keepsShell ? { ...found, isolated: false } : found;
  const isOdd = means.cwd !== undefined && !isPlainPath(means.cwd);
  return { tool, subject, kin, ...(isOdd ? { doubt: 'it is unknown in which folder it would run' } : {}) };
}

function fileTool(
  means: Meaning<'read' | 'write'>,
  tool: Tool,
  kin: readonly string[],
  { session, workspaceDirectory }: BackendToolQuestion,
): JudgedBackendTool {
  const { kind: access } = means;
  const path = below(means.path, folderOf(means, workspaceDirectory) ?? workspaceDirectory);
  // Our tool knows where a path leads: one in the workspace may be a link out of it.
  const followed = tool.subject?.({ path }, { session, workspaceDirectory });
  const found = followed?.kind === 'path' ? followed : ({ kind: 'path', path, access } as const);
  const subject = means.kind === 'read' && means.reachesBelow === true ? { ...found, reachesBelow: true } : found;
  const isPlain = isPlainPath(means.path) && (means.cwd === undefined || isPlainPath(means.cwd));
  const doubt =
    followed === undefined || !isPlain
      ? 'it is unknown where its path leads'
      : isInside(found.path, workspaceDirectory)
        ? undefined
        : 'its path leads out of the workspace, where no rule reaches';
  return {
    tool,
    subject,
    kin,
    ...(means.kind === 'write' && means.edits === true ? { allowedAs: ['edit'] } : {}),
    ...(doubt === undefined ? {} : { doubt }),
  };
}

function isInside(path: string, workspaceDirectory: string): boolean {
  return workspacePath(path, workspaceDirectory) !== undefined;
}

/** A path begins in the folder, and a folder in the workspace. */
function folderOf({ cwd }: RunToolMeaning, workspaceDirectory: string): string | undefined {
  return cwd === undefined ? undefined : below(cwd, workspaceDirectory);
}

function below(path: string, folder: string): string {
  if (path === '') return folder;
  return path.startsWith('/') ? path : `${folder}/${path}`;
}

/**
 * It runs where the agent may run everything of that kind; rules that deny or ask may be about it, and what allows a
 * path or a command is not about it.
 */
function unclearTool(
  { as, paths }: Meaning<'unclear'>,
  { name, tools, session, workspaceDirectory }: BackendToolQuestion,
): JudgedBackendTool {
  const { tool, subject, kin } = unknownTool(name, tools);
  const file = tools.find(({ definition }) => definition.name === OURS.write);
  const leadsOut = paths.some((path) => {
    const followed = file?.subject?.({ path: below(path, workspaceDirectory) }, { session, workspaceDirectory });
    return !isPlainPath(path) || followed?.kind !== 'path' || !isInside(followed.path, workspaceDirectory);
  });
  // A command can do what any rule is against.
  const like = as === 'command' ? Object.values(KIN).flat() : KIN[as];
  const definition = { ...tool.definition, permissionPolicy: 'always_allow' as const };
  return {
    tool: { ...tool, definition },
    subject,
    kin: [...new Set([...like, ...kin])],
    ...(leadsOut ? { doubt: 'it is unknown whether all its paths stay in the workspace' } : {}),
    ...(as === 'write' ? { changes: paths } : {}),
  };
}

/** Names that rules have for tools of ours, whether or not these are here. */
const OUR_NAMES: ReadonlySet<string> = new Set([...Object.values(KIN).flat(), 'shell_run']);

/** It is unknown what it does. Under the name of a tool of ours, what a rule allows to ours is not allowed to it. */
function unknownTool(name: string, tools: readonly Tool[]): JudgedBackendTool {
  const isOurs =
    OUR_NAMES.has(name) || name.startsWith('shell_') || tools.some(({ definition }) => definition.name === name);
  const tool: Tool = {
    definition: {
      name: isOurs ? `backend:${name}` : name,
      description: `A tool of the backend: ${name}`,
      inputSchema: anyInput,
      ownership: 'custom',
      permissionPolicy: 'always_ask',
      readOnly: false,
      destructive: true,
      interruptBehavior: 'cancel',
    },
  };
  return { tool, subject: { kind: 'tool' }, kin: isOurs ? [name] : [] };
}
