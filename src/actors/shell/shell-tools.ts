/**
 * The persistent shell tools. A shell is a process of its session that stays between calls and wakes, for as long as
 * this runtime lives; after a restart it is opened again when it is used, with what can be told of it, and the reply
 * says so.
 *
 * What a shell takes in stays in it: an alias, a function or another PATH makes `git status` mean something else. Its
 * commands are therefore never to be judged by rules for known commands.
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
import type {
  ShellClosed,
  ShellCommandReply,
  ShellFolder,
  ShellHistory,
  ShellOpened,
  ShellOutputPage,
  ShellVariable,
} from '../../machines/turn/shell/shell-results.ts';
import type { ShellRecordVariable } from '../../machines/turn/shell/shell-record.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import type { Clock } from '../clock/clock.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { createIdSource } from '../session/id-source.ts';
import type { IdSource } from '../session/id-source.ts';
import type { Tool, ToolContext } from '../turn/tool.ts';
import { fromWorkspace, onHost, requireAllowedFolder } from './command-workspace.ts';
import type { CommandPlace } from './command-workspace.ts';
import type { RunningCommand } from './running-command.ts';
import { shellAtRest, shellOfAnotherProcess } from './shell-errors.ts';
import type { ShellHost, ShellRecords } from './shell-host.ts';
import { folderOfShell, historyOf, isSuperseded, openShell, usableShell } from './usable-shell.ts';
import type { ShellPorts } from './usable-shell.ts';
import type { SessionWatchPorts } from './session-watch.ts';
import type { ShellTasks } from './shell-process.ts';
import type { Shell } from './shell.ts';
import { Shells } from './shells.ts';
import type { TaskOutputFeed } from './task-output-feed.ts';
import { pause, waitFor } from '../clock/waiting.ts';

export interface ShellToolsOptions {
  /**
   * One slot for each open shell, MAX_OPEN_SHELLS at most: a manager of their own, so that shells at rest keep no other
   * task waiting.
   */
  readonly tasks: ShellTasks;
  /** Hears the output of those tasks. */
  readonly feed: TaskOutputFeed;
  readonly host: ShellHost;
  readonly clock: Clock;
  /** Makes the nonces by which ends are known. Default: one on the clock, with random bytes of the platform. */
  readonly ids?: IdSource | undefined;
  /** What commands get besides the usual variables. */
  readonly environment?: CommandEnvironmentSettings | undefined;
  /**
   * Follows the sessions that have shells, so that these end when another process terminates or deletes their session.
   */
  readonly sessions?: SessionWatchPorts | undefined;
  /**
   * Where what is known of open shells is kept, so that they can be opened again after a restart. Without it they
   * cannot.
   */
  readonly records?: ShellRecords | undefined;
}

export interface ShellTools {
  readonly tools: readonly Tool[];
  /** Ends every shell and everything that runs in them. Idempotent. */
  close(): Promise<void>;
  closeSession(sessionId: string): Promise<void>;
  /**
   * Of every shell of a session that something is known of, open or to be opened again. Values of variables are not in
   * it.
   */
  describe(session: SessionIdentity): readonly ShellHistory[];
  /**
   * What still runs in open shells of a session here, in words; undefined when nothing does. What is just ending is
   * given a moment.
   */
  leftRunning(session: Pick<SessionIdentity, 'sessionId'>): Promise<string | undefined>;
}

/** Longer than an interrupt and the end of a process tree may take: the call must not be over before its processes. */
const STOP_GRACE_MS = 15_000;

/** @throws RuntimeError ENVIRONMENT_INVALID */
export function createShellTools(options: ShellToolsOptions): ShellTools {
  const { tasks, feed, host, clock, ids = createIdSource({ clock }) } = options;
  const { records, sessions } = options;
  const shells = new Shells({ tasks, feed, host, clock, ids, sessions, records });
  const ports: ToolPorts = {
    shells,
    host,
    clock,
    environment: checkedEnvironmentSettings(options.environment),
    records,
    log: sessions?.store,
  };
  const tools: readonly Tool[] = [
    openTool(ports),
    execTool(ports),
    waitTool(ports),
    closeTool(ports),
    historyTool(ports),
    pageTool(ports),
    setCwdTool(ports),
    setEnvTool(ports),
  ];
  return {
    tools: tools.map((tool) => withConfirmedSession(tool, shells)),
    close: () => shells.closeAll('the runtime is shutting down'),
    closeSession: (sessionId) => shells.closeSession(sessionId, 'its session was closed'),
    describe: (session) =>
      [
        ...new Set([...shells.of(session.sessionId).map(({ name }) => name), ...(records?.names(session) ?? [])]),
      ].flatMap((name) => historyOf(ports, session, name) ?? []),
    async leftRunning({ sessionId }) {
      for (let check = 1; ; check += 1) {
        const busy = runningIn(shells.of(sessionId));
        if (busy === undefined || check === RUNNING_CHECKS) return busy;
        await pause({ clock, timeoutMs: RUNNING_CHECK_MS });
      }
    },
  };
}

/** A process that has said its last word takes a moment to be gone. */
const RUNNING_CHECKS = 5;
const RUNNING_CHECK_MS = 20;

function runningIn(shells: readonly Shell[]): string | undefined {
  const busy = shells.map(({ name, running }) => ({ name, running })).filter(({ running }) => running > 0);
  return busy.length === 0
    ? undefined
    : busy
        .map(({ name, running }) => `${running} ${running === 1 ? 'process' : 'processes'} in shell ${name}`)
        .join(', ');
}

interface ToolPorts extends ShellPorts {
  readonly clock: Clock;
}

/**
 * A call never sees a shell of a session that was deleted before it. A wake that runs keeps its session from being
 * deleted during the call.
 */
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

function openTool(ports: ToolPorts): Tool<ShellOpenInput> {
  return {
    definition: shellOpenDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ cwd }, context) => ({ kind: 'path', path: folderOf(ports.host, context, cwd), access: 'read' }),
    async run({ name = MAIN_SHELL, cwd, secrets }, context) {
      context.signal.throwIfAborted();
      const folder = ports.host.resolveInside(context.workspaceDirectory, fromWorkspace(context, cwd ?? '.'));
      requireAllowedFolder(context.subject, folder);
      const shell = await openShell(ports, context, { name, cwd: folder, secrets });
      await requireOpenedWhereAllowed(ports, shell, context);
      return { shell: name, cwd: shell.cwd ?? folder } satisfies ShellOpened;
    },
  };
}

function execTool(ports: ToolPorts): Tool<ShellExecInput> {
  return {
    definition: shellExecDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ shell, command }, context): PermissionSubject => {
      const cwd = folderOfShell(ports, context.session, shell ?? MAIN_SHELL) ?? context.workspaceDirectory;
      return { kind: 'shell', command, cwd: onHost(context, cwd), isolated: false };
    },
    async run({ shell: name, command, timeoutMs = DEFAULT_SHELL_WAIT_MS }, context) {
      context.signal.throwIfAborted();
      // Only the shell that is meant by saying nothing comes into being by itself: a named one is expected to have
      // something in it.
      const { shell, isNew, restoring } = await usableShell(ports, context, {
        name: name ?? MAIN_SHELL,
        mayBegin: name === undefined,
      });
      context.signal.throwIfAborted();
      const began = isNew ? beginAnew(shell, command, context) : beginWhereAllowed(shell, command, context);
      const reply = await attend(ports, began, { name: shell.name, timeoutMs, context });
      return { ...reply, ...opened(isNew), ...restoring } satisfies ShellCommandReply;
    },
  };
}

function waitTool(ports: ToolPorts): Tool<ShellWaitInput> {
  return {
    definition: shellWaitDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ shell: name = MAIN_SHELL, timeoutMs = DEFAULT_SHELL_WAIT_MS }, context) {
      context.signal.throwIfAborted();
      const shell = shellHere(ports, context, name);
      const command = shell.lastCommand;
      if (command !== undefined) return attend(ports, command, { name, timeoutMs, context });
      throw shell.closedError() ?? shellAtRest(name);
    },
  };
}

function closeTool({ shells, records }: ToolPorts): Tool<ShellNameInput> {
  return {
    definition: shellCloseDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ shell = MAIN_SHELL }, { session }) {
      const isKnown = records?.read(session, shell) !== undefined;
      const leftOver =
        isKnown && shells.find(session.sessionId, shell) === undefined
          ? undefined
          : await shells.close(session.sessionId, shell);
      // Also that of a shell that another process had.
      if (isKnown) await records?.remove(session, shell);
      return { shell, closed: true, ...(leftOver === undefined ? {} : { leftOver }) } satisfies ShellClosed;
    },
  };
}

function historyTool(ports: ToolPorts): Tool<ShellNameInput> {
  return {
    definition: shellHistoryDefinition,
    async run({ shell = MAIN_SHELL }, { session }) {
      return (
        historyOf(ports, session, shell) ??
        (ports.shells.get(session.sessionId, shell).describe() satisfies ShellHistory)
      );
    },
  };
}

function pageTool(ports: ToolPorts): Tool<ShellPageInput> {
  return {
    definition: shellReadLastOutputDefinition,
    async run({ shell: name = MAIN_SHELL, offset, limit }, context) {
      const shell = shellHere(ports, context, name);
      const command = shell.lastCommand;
      if (command === undefined) throw shell.closedError() ?? shellAtRest(name);
      const running = command.outcome === undefined ? { running: true as const } : {};
      return { shell: name, ...command.output.page({ offset, limit }), ...running } satisfies ShellOutputPage;
    },
  };
}

function setCwdTool(ports: ToolPorts): Tool<ShellSetCwdInput> {
  return {
    definition: shellSetCwdDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ cwd }, context) => ({ kind: 'path', path: folderOf(ports.host, context, cwd), access: 'read' }),
    async run({ shell: given, cwd }, context) {
      const name = given ?? MAIN_SHELL;
      const { workspaceDirectory, signal, subject } = context;
      signal.throwIfAborted();
      const folder = ports.host.resolveInside(workspaceDirectory, fromWorkspace(context, cwd));
      requireAllowedFolder(subject, folder);
      const { shell, isNew, restoring } = await usableShell(ports, context, { name, mayBegin: given === undefined });
      const entered = await shell.changeFolder(folder);
      await shell.saved();
      requireAllowedFolder(subject, entered);
      return { shell: name, cwd: entered, ...opened(isNew), ...restoring } satisfies ShellFolder;
    },
  };
}

function setEnvTool(ports: ToolPorts): Tool<ShellSetEnvInput> {
  return {
    definition: shellSetEnvDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ shell: given, name, value }, context) {
      context.signal.throwIfAborted();
      const { shell, isNew, restoring } = await usableShell(ports, context, {
        name: given ?? MAIN_SHELL,
        mayBegin: given === undefined,
      });
      await shell.setVariable(variableOf({ name, value }, context), value);
      await shell.saved();
      return { shell: shell.name, name, set: value !== null, ...opened(isNew), ...restoring } satisfies ShellVariable;
    },
  };
}

function opened(isNew: boolean): { readonly opened?: true } {
  return isNew ? { opened: true } : {};
}

/** Where its value is found again: in the log, which has the call that sets it, without secrets. */
function variableOf(
  { name, value }: Pick<ShellSetEnvInput, 'name' | 'value'>,
  { callId, wake, environment }: ToolContext,
): ShellRecordVariable {
  if (value === null) return { name, removed: true };
  const seq = wake?.state().openToolCalls.find((call) => call.callId === callId)?.seq;
  if (seq === undefined) return { name, lost: 'the call that set it is in no log' };
  const isWhole = environment === undefined || environment.secrets.text(value) === value;
  return isWhole ? { name, seq } : { name, lost: 'its value had a secret in it, which no log has' };
}

/** One whose process is this one's. @throws RuntimeError SHELL_CLOSED */
function shellHere({ shells, records }: ToolPorts, { session }: Pick<ToolContext, 'session'>, name: string): Shell {
  const record = records?.read(session, name);
  const found = shells.find(session.sessionId, name);
  if (record !== undefined && (found === undefined || isSuperseded(found, record))) throw shellOfAnotherProcess(name);
  return shells.get(session.sessionId, name);
}

/**
 * What was checked before it opened may be something else by the time it is entered. @throws RuntimeError
 * FOLDER_CHANGED; then it is closed
 */
async function requireOpenedWhereAllowed(
  { shells }: ToolPorts,
  shell: Shell,
  context: Pick<ToolContext, 'subject'> & CommandPlace,
): Promise<void> {
  try {
    if (shell.cwd !== undefined) requireAllowedFolder(context.subject, onHost(context, shell.cwd));
  } catch (error) {
    await shells.close(context.session.sessionId, shell.name);
    throw error;
  }
}

/** A shell that has ended says so itself. @throws RuntimeError FOLDER_CHANGED, and what `begin` throws */
function beginWhereAllowed(
  shell: Shell,
  command: string,
  context: Pick<ToolContext, 'subject'> & CommandPlace,
): RunningCommand {
  const { isOpen, cwd } = shell;
  if (isOpen && cwd !== undefined) requireAllowedFolder(context.subject, onHost(context, cwd));
  return shell.begin(command, context.environment?.secrets);
}

/** What was allowed is the workspace by the name that it has, whatever links lead there. */
function beginAnew(
  shell: Shell,
  command: string,
  { subject, workspaceDirectory, environment }: ToolContext,
): RunningCommand {
  requireAllowedFolder(subject, workspaceDirectory);
  return shell.begin(command, environment?.secrets);
}

interface Attendance {
  readonly name: string;
  readonly timeoutMs: number;
  readonly context: ToolContext;
}

/** Waits for a command as long as asked. Running out of time leaves it alone; a stop of the call stops it. */
async function attend(
  { shells, clock }: ToolPorts,
  command: RunningCommand,
  { name, timeoutMs, context }: Attendance,
): Promise<ShellCommandReply> {
  const { session, signal } = context;
  const shell = shells.get(session.sessionId, name);
  if ((await waitFor(command.over, { clock, timeoutMs, signal })) === 'aborted') {
    await shell.stop(command);
    signal.throwIfAborted();
  }
  shell.touch();
  // The agent that has the reply may rely on what it says, whatever becomes of this process.
  if (command.outcome !== undefined) await shell.saved();
  return command.reply({ shell: name, cwd: shell.cwd });
}

/** For rules: one that cannot be entered stays as it was named, and is refused when the call runs. */
function folderOf(host: ShellHost, context: CommandPlace, path = '.'): string {
  try {
    return host.resolveInside(context.workspaceDirectory, fromWorkspace(context, path));
  } catch {
    return path;
  }
}
