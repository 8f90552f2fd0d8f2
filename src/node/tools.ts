/** The managed tools that need Node, and what they share: files, shells, outputs, MCP servers, requests. */
import { join } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import type { EventStore, SessionIdentity } from '../actors/session/event-store.ts';
import { createIdSource } from '../actors/session/id-source.ts';
import type { SessionHold } from '../actors/shell/session-watch.ts';
import { createShellTools } from '../actors/shell/shell-tools.ts';
import type { ShellTools } from '../actors/shell/shell-tools.ts';
import { TaskOutputFeed } from '../actors/shell/task-output-feed.ts';
import { countedIds } from '../actors/task/task-admission.ts';
import { BackgroundTaskManager } from '../actors/task/background-task-manager.ts';
import type { ProcessTree } from '../actors/task/process-tree.ts';
import type { ToolSource } from '../actors/turn/tool-source.ts';
import { createVaultListTool } from '../actors/vault/vault-list-tool.ts';
import { createFileToolset } from '../adapters/file-tools/file-tools.ts';
import { createOutputFiles } from '../adapters/file-tools/output-files.ts';
import { withQuotaNotes } from '../actors/turn/quota-notes.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { createHttpRequestTool } from '../adapters/http-request/http-request-tool.ts';
import type { McpToolSourceOptions } from '../adapters/mcp/mcp-tool-source.ts';
import { createShellHost } from '../adapters/shell/shell-host.ts';
import { createShellRecordFiles } from '../adapters/shell/shell-record-files.ts';
import { createManagedShellProcessRunner } from '../adapters/shell/shell-runner.ts';
import type { ManagedShellProcessRunnerOptions } from '../adapters/shell/shell-runner.ts';
import { GIT_NAMES, checkedEnvironmentSettings } from '../machines/turn/shell/environment.ts';
import type { CommandEnvironmentSettings } from '../machines/turn/shell/environment.ts';
import { checkTools } from '../machines/turn/tool-check.ts';
import { MAX_OPEN_SHELLS } from '../machines/turn/shell/shell-limits.ts';
import type { NodeEnvironments } from './environments.ts';
import type { NodeRuntimeOptions } from './runtime-options.ts';
import type { RuntimePorts } from '../runtime.ts';

/** Folder of a home in which processes tell each other in which workspace they write. */
const LOCKS_FOLDER = 'locks';
/** In the folder that the runtime has for each session. */
const SHELLS_FOLDER = 'shells';

export interface ToolParts {
  readonly layout: HomeLayout;
  readonly secrets: NodeEnvironments['secrets'];
  readonly store: EventStore;
  /** Tells a session from another one that is made under its id later. */
  readonly hold: (session: SessionIdentity) => Promise<SessionHold>;
  readonly processTree: ProcessTree;
  readonly clock: Clock;
  readonly options: NodeRuntimeOptions;
}

type ToolPorts = Pick<RuntimePorts, 'tools' | 'toolTasks' | 'toolSource' | 'closeTools' | 'closeSession'> &
  Required<Pick<RuntimePorts, 'outputs' | 'shellHost' | 'commandEnvironment' | 'quotaNote'>>;

export interface NodeTools {
  readonly ports: ToolPorts;
  readonly shells: ShellTools;
}

/** @throws RuntimeError ENVIRONMENT_INVALID, TOOL_INVALID, TOOL_EXISTS */
export function nodeTools({ layout, secrets, store, hold, processTree, clock, options }: ToolParts): NodeTools {
  // By themselves first: they are named as the program has listed them.
  checkTools(options.tools ?? []);
  const host = createShellHost();
  const environment = commandSettings(options.commandEnvironment);
  const feed = new TaskOutputFeed();
  // Shells that rest must not take the slots of tasks. Their output belongs to the session alone, so it is not logged.
  const shellTasks = new BackgroundTaskManager({
    runners: {
      process: createManagedShellProcessRunner({
        processTree,
        clock,
        onOutput: feed.take,
        environment: () => ({}),
        redactionOf: redactionFor(secrets),
      }),
    },
    clock,
    maxConcurrent: MAX_OPEN_SHELLS,
    // Those of all managers of a runtime are told apart.
    idFactory: countedIds('shell'),
    ...(options.inspect === undefined ? {} : { inspect: options.inspect }),
    ...(options.onListenerError === undefined ? {} : { onListenerError: options.onListenerError }),
  });
  const sessions = { store, clock, ids: createIdSource({ clock }), hold };
  const records = createShellRecordFiles((session) => join(layout.runtimeDirectory(session), SHELLS_FOLDER));
  const shells = createShellTools({ tasks: shellTasks, feed, host, clock, environment, sessions, records });
  const outputs = createOutputFiles({
    workspaceDirectory: (identity) => layout.workspaceDirectory(identity),
    redacted: (_session, text) => secrets.known.text(text),
  });
  const files = createFileToolset({ home: layout.home, lockDirectory: join(layout.home, LOCKS_FOLDER) });
  const ports: ToolPorts = {
    tools: [
      ...files.tools,
      ...withQuotaNotes(shells.tools, files.quotaNote),
      createHttpRequestTool({ clock, userAgent: USER_AGENT }),
      createVaultListTool(),
      ...(options.tools ?? []),
    ],
    toolTasks: [shellTasks],
    quotaNote: files.quotaNote,
    outputs,
    shellHost: host,
    commandEnvironment: environment,
    toolSource: mcpServers({
      processTree,
      clock,
      files: outputs,
      clientInfo: CLIENT,
      ...(options.onToolServerNews === undefined ? {} : { onNews: options.onToolServerNews }),
    }),
    closeSession: (sessionId) => shells.closeSession(sessionId),
    async closeTools(reason) {
      await shells.close();
      await shellTasks.shutdown(reason);
    },
  };
  return { ports, shells };
}

/** Takes secrets out of the output of all commands: what one session was given may come to another one in a file. */
export function redactionFor(
  secrets: NodeEnvironments['secrets'],
): NonNullable<ManagedShellProcessRunnerOptions['redactionOf']> {
  return () => secrets.known.bytes();
}

/** Most agents name no MCP server: what speaks to them is loaded with the first one. */
function mcpServers(given: McpToolSourceOptions): ToolSource {
  let source: Promise<ToolSource> | undefined;
  const open = async (): Promise<ToolSource> =>
    (await import('../adapters/mcp/mcp-tool-source.ts')).createMcpToolSource(given);
  return {
    toolsOf: async (request) => (await (source ??= open())).toolsOf(request),
    close: async (reason) => (await source)?.close(reason),
  };
}

/** How MCP servers see us. */
const CLIENT = { name: 'wakechart', version: '0.1.0' };
const USER_AGENT = `${CLIENT.name}/${CLIENT.version}`;

/**
 * Keeps git from running what a repository in the workspace names: its commands that only read are allowed without
 * asking.
 */
const GIT_SAFETY = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
};

/** @throws RuntimeError ENVIRONMENT_INVALID */
function commandSettings(given: CommandEnvironmentSettings | undefined): CommandEnvironmentSettings {
  const named = (process.env['WAKECHART_PASS_ENV'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const { pass, set } = checkedEnvironmentSettings({
    ...given,
    pass: [...GIT_NAMES, ...named, ...(given?.pass ?? [])],
  });
  return { pass, set: { ...GIT_SAFETY, ...set } };
}
