/**
 * The persistent shell tools. A shell is a process of its session that stays between calls and wakes, for as long as this runtime
 * lives; after a restart there is none, and a call on one of before says so.
 *
 * What a shell takes in stays in it: an alias, a function or another PATH makes `git status` mean something else. Its commands are
 * therefore never to be judged by rules for known commands.
 */
import { checkedEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import type { CommandEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import {
  MAIN_SHELL,
  shellCloseDefinition,
  shellExecDefinition,
  shellHistoryDefinition,
  shellOpenDefinition,
  shellReadLastOutputDefinition,
  shellSetCwdDefinition,
  shellSetEnvDefinition,
  shellWaitDefinition,
} from '../../machines/turn/shell/shell-definitions.ts';
import type {
  ShellExecInput,
  ShellNameInput,
  ShellOpenInput,
  ShellPageInput,
  ShellSetCwdInput,
  ShellSetEnvInput,
  ShellWaitInput,
} from '../../machines/turn/shell/shell-definitions.ts';
import { DEFAULT_SHELL_WAIT_MS } from '../../machines/turn/shell/shell-limits.ts';
import type { ShellClosed, ShellCommandReply, ShellFolder, ShellHistory, ShellOpened, ShellOutputPage, ShellVariable } from '../../machines/turn/shell/shell-results.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import type { Clock } from '../clock/clock.ts';
import { createIdSource } from '../session/id-source.ts';
import type { IdSource } from '../session/id-source.ts';
import type { Tool, ToolContext } from '../turn/tool.ts';
import { environmentIn, requireAllowedFolder } from './command-workspace.ts';
import type { RunningCommand } from './running-command.ts';
import { shellAtRest } from './shell-errors.ts';
import type { ShellHost } from './shell-host.ts';
import type { SessionWatchPorts } from './session-watch.ts';
import type { ShellTasks } from './shell-process.ts';
import type { Shell } from './shell.ts';
import { Shells } from './shells.ts';
import type { TaskOutputFeed } from './task-output-feed.ts';
import { waitFor } from './wait-for.ts';

export interface ShellToolsOptions {
  /** One slot for each open shell, MAX_OPEN_SHELLS at most: a manager of their own, so that shells at rest keep nobody else waiting. */
  readonly tasks: ShellTasks;
  /** Hears the output of those tasks. */
  readonly feed: TaskOutputFeed;
  readonly host: ShellHost;
  readonly clock: Clock;
  /** Makes the nonces by which ends are known. Default: one on the clock, with random bytes of the platform. */
  readonly ids?: IdSource | undefined;
  /** What commands get besides the usual variables. */
  readonly environment?: CommandEnvironmentSettings | undefined;
  /** Follows the sessions that have shells, so that these end when another process terminates or deletes their session. */
  readonly sessions?: SessionWatchPorts | undefined;
}

export interface ShellTools {
  readonly tools: readonly Tool[];
  /** Ends every shell and everything that runs in them. Idempotent. */
  close(): Promise<void>;
  closeSession(sessionId: string): Promise<void>;
}

/** Longer than an interrupt and the end of a process tree may take: the call must not be over before its processes. */
const STOP_GRACE_MS = 15_000;

type CallContext = Pick<ToolContext, 'session' | 'workspaceDirectory'>;

/** @throws RuntimeError ENVIRONMENT_INVALID */
export function createShellTools(options: ShellToolsOptions): ShellTools {
  const { tasks, feed, host, clock, ids = createIdSource({ clock }) } = options;
  const shells = new Shells({ tasks, feed, host, clock, ids, sessions: options.sessions });
  const house: House = { shells, host, clock, environment: checkedEnvironmentSettings(options.environment) };
  const tools: readonly Tool[] = [openTool(house), execTool(house), waitTool(house), closeTool(house), historyTool(house), pageTool(house), setCwdTool(house), setEnvTool(house)];
  return {
    tools: tools.map((tool) => withConfirmedSession(tool, shells)),
    close: () => shells.closeAll('the runtime is shutting down'),
    closeSession: (sessionId) => shells.closeSession(sessionId, 'its session was closed'),
  };
}

interface House {
  readonly shells: Shells;
  readonly host: ShellHost;
  readonly clock: Clock;
  readonly environment: CommandEnvironmentSettings;
}

/** A call never sees a shell of a session that was deleted before it. A wake that runs keeps its session from being deleted during the call. */
function withConfirmedSession(tool: Tool, shells: Shells): Tool {
  return {
    ...tool,
    async run(input, context) {
      const confirming = shells.confirm(context.session.sessionId);
      if (confirming !== undefined) await confirming;
      return tool.run?.(input, context);
    },
  };
}

function openTool(house: House): Tool<ShellOpenInput> {
  return {
    definition: shellOpenDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ cwd }, { workspaceDirectory }) => ({ kind: 'path', path: folderOf(house.host, workspaceDirectory, cwd), access: 'read' }),
    async run({ name = MAIN_SHELL, cwd }, context) {
      context.signal.throwIfAborted();
      const folder = house.host.resolveInside(context.workspaceDirectory, cwd ?? '.');
      requireAllowedFolder(context.subject, folder);
      const shell = await openShell(house, context, { name, cwd: folder });
      await requireOpenedWhereAllowed(house, shell, context);
      return { shell: name, cwd: shell.cwd ?? folder } satisfies ShellOpened;
    },
  };
}

function execTool(house: House): Tool<ShellExecInput> {
  return {
    definition: shellExecDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ shell, command }, { session, workspaceDirectory }): PermissionSubject => {
      const found = house.shells.find(session.sessionId, shell ?? MAIN_SHELL);
      return { kind: 'shell', command, cwd: (found?.isOpen === true ? found.cwd : undefined) ?? workspaceDirectory, isolated: false };
    },
    async run({ shell: name, command, timeoutMs = DEFAULT_SHELL_WAIT_MS }, context) {
      context.signal.throwIfAborted();
      const { sessionId } = context.session;
      // Only the shell that is meant by saying nothing comes into being by itself: a named one is expected to have something in it.
      const isNew = name === undefined && house.shells.find(sessionId, MAIN_SHELL)?.isOpen !== true;
      if (!isNew) return attend(house, beginWhereAllowed(house.shells.get(sessionId, name ?? MAIN_SHELL), command, context), { name: name ?? MAIN_SHELL, timeoutMs, context });
      requireAllowedFolder(context.subject, context.workspaceDirectory);
      const shell = await openShell(house, context, { name: MAIN_SHELL, cwd: context.workspaceDirectory });
      context.signal.throwIfAborted();
      const reply = await attend(house, shell.begin(command), { name: MAIN_SHELL, timeoutMs, context });
      return { ...reply, opened: true } satisfies ShellCommandReply;
    },
  };
}

function waitTool(house: House): Tool<ShellWaitInput> {
  return {
    definition: shellWaitDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ shell: name = MAIN_SHELL, timeoutMs = DEFAULT_SHELL_WAIT_MS }, context) {
      context.signal.throwIfAborted();
      const shell = house.shells.get(context.session.sessionId, name);
      const command = shell.lastCommand;
      if (command !== undefined) return attend(house, command, { name, timeoutMs, context });
      throw shell.closedError() ?? shellAtRest(name);
    },
  };
}

function closeTool({ shells }: House): Tool<ShellNameInput> {
  return {
    definition: shellCloseDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ shell = MAIN_SHELL }, { session }) {
      const leftOver = await shells.close(session.sessionId, shell);
      return { shell, closed: true, ...(leftOver === undefined ? {} : { leftOver }) } satisfies ShellClosed;
    },
  };
}

function historyTool({ shells }: House): Tool<ShellNameInput> {
  return {
    definition: shellHistoryDefinition,
    async run({ shell = MAIN_SHELL }, { session }) {
      return shells.get(session.sessionId, shell).describe() satisfies ShellHistory;
    },
  };
}

function pageTool({ shells }: House): Tool<ShellPageInput> {
  return {
    definition: shellReadLastOutputDefinition,
    async run({ shell: name = MAIN_SHELL, offset, limit }, { session }) {
      const shell = shells.get(session.sessionId, name);
      const command = shell.lastCommand;
      if (command === undefined) throw shell.closedError() ?? shellAtRest(name);
      const running = command.outcome === undefined ? { running: true as const } : {};
      return { shell: name, ...command.output.page({ offset, limit }), ...running } satisfies ShellOutputPage;
    },
  };
}

function setCwdTool(house: House): Tool<ShellSetCwdInput> {
  return {
    definition: shellSetCwdDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ cwd }, { workspaceDirectory }) => ({ kind: 'path', path: folderOf(house.host, workspaceDirectory, cwd), access: 'read' }),
    async run({ shell = MAIN_SHELL, cwd }, { session, workspaceDirectory, signal, subject }) {
      signal.throwIfAborted();
      const folder = house.host.resolveInside(workspaceDirectory, cwd);
      requireAllowedFolder(subject, folder);
      const entered = await house.shells.get(session.sessionId, shell).changeFolder(folder);
      requireAllowedFolder(subject, entered);
      return { shell, cwd: entered } satisfies ShellFolder;
    },
  };
}

function setEnvTool({ shells }: House): Tool<ShellSetEnvInput> {
  return {
    definition: shellSetEnvDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ shell = MAIN_SHELL, name, value }, { session, signal }) {
      signal.throwIfAborted();
      await shells.get(session.sessionId, shell).setVariable(name, value);
      return { shell, name, set: value !== null } satisfies ShellVariable;
    },
  };
}

async function openShell({ shells, host, environment }: House, { session, workspaceDirectory }: CallContext, { name, cwd }: { readonly name: string; readonly cwd: string }): Promise<Shell> {
  return shells.open({ name, sessionId: session.sessionId, cwd, environment: environmentIn({ session, workspaceDirectory }, host, environment) });
}

/** What was looked at before it opened may be something else by the time it is entered. @throws RuntimeError FOLDER_CHANGED; then it is closed */
async function requireOpenedWhereAllowed({ shells }: House, shell: Shell, { session, subject }: Pick<ToolContext, 'session' | 'subject'>): Promise<void> {
  try {
    if (shell.cwd !== undefined) requireAllowedFolder(subject, shell.cwd);
  } catch (error) {
    await shells.close(session.sessionId, shell.name);
    throw error;
  }
}

/** A shell that has ended says so itself. @throws RuntimeError FOLDER_CHANGED, and what `begin` throws */
function beginWhereAllowed(shell: Shell, command: string, { subject }: Pick<ToolContext, 'subject'>): RunningCommand {
  const { isOpen, cwd } = shell;
  if (isOpen && cwd !== undefined) requireAllowedFolder(subject, cwd);
  return shell.begin(command);
}

interface Attendance {
  readonly name: string;
  readonly timeoutMs: number;
  readonly context: ToolContext;
}

/** Waits for a command as long as asked. Running out of time leaves it alone; a stop of the call stops it. */
async function attend({ shells, clock }: House, command: RunningCommand, { name, timeoutMs, context }: Attendance): Promise<ShellCommandReply> {
  const { session, signal } = context;
  const shell = shells.get(session.sessionId, name);
  if ((await waitFor(command.over, { clock, timeoutMs, signal })) === 'aborted') {
    await shell.stop(command);
    signal.throwIfAborted();
  }
  shell.touch();
  return command.reply({ shell: name, cwd: shell.cwd });
}

/** For rules: one that cannot be entered stays as it was named, and is refused when the call runs. */
function folderOf(host: ShellHost, workspace: string, path = '.'): string {
  try {
    return host.resolveInside(workspace, path);
  } catch {
    return path;
  }
}
