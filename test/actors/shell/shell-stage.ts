/** Shell tools with everything real around them, in a workspace of their own, for one test. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionEnvironment } from '../../../src/actors/environment/session-environment.ts';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { ShellHost } from '../../../src/actors/shell/shell-host.ts';
import { createShellTools } from '../../../src/actors/shell/shell-tools.ts';
import type { ShellTools, ShellToolsOptions } from '../../../src/actors/shell/shell-tools.ts';
import { TaskOutputFeed } from '../../../src/actors/shell/task-output-feed.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import type { Tool, ToolContext } from '../../../src/actors/turn/tool.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createShellHost } from '../../../src/adapters/shell/shell-host.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import type { PermissionSubject } from '../../../src/machines/permission/permission-subject.ts';
import { readToolInput } from '../../../src/machines/turn/tool-schema.ts';
import type { ShellCommandReply } from '../../../src/machines/turn/shell/shell-results.ts';
import { AGENT_ID, SESSION_ID } from '../../support/session-events.ts';

export const nodeShellHost: ShellHost = createShellHost();

export interface CallOptions extends Partial<Pick<ToolContext, 'environment' | 'wake' | 'callId'>> {
  readonly signal?: AbortSignal;
  readonly sessionId?: string;
  /** What was allowed. */
  readonly subject?: PermissionSubject | undefined;
}

export interface ShellStage extends AsyncDisposable {
  /** Without symbolic links. */
  readonly workspace: string;
  readonly tasks: BackgroundTaskManager;
  /** Calls a tool as the executor does: input read by its schema, then run. */
  call<Result = Record<string, unknown>>(name: string, input?: object, options?: CallOptions): Promise<Result>;
  exec(command: string, input?: object, options?: CallOptions): Promise<ShellCommandReply>;
  subject(name: string, input: object, environment?: SessionEnvironment): PermissionSubject | undefined;
  readonly describe: ShellTools['describe'];
  readonly leftRunning: ShellTools['leftRunning'];
  /** The process of the session's oldest shell. */
  shellPid(): number;
  readonly close: () => Promise<void>;
  readonly closeSession: (sessionId: string) => Promise<void>;
}

export interface ShellStageOptions extends Partial<Pick<ShellToolsOptions, 'environment' | 'sessions' | 'records'>> {
  /** Of every call that names none. */
  readonly sessionEnvironment?: SessionEnvironment | undefined;
  /** Made and removed by whoever names it. Default: one of its own. */
  readonly folder?: string;
  /** The clock of the tools; processes live in real time. */
  readonly clock?: Clock;
  readonly host?: Partial<ShellHost>;
  readonly maxConcurrent?: number;
}

export async function openShellStage({
  clock = createSystemClock(),
  host,
  environment,
  sessions,
  records,
  sessionEnvironment,
  folder: given,
  maxConcurrent = 32,
}: ShellStageOptions = {}): Promise<ShellStage> {
  const folder = given ?? (await realpath(await mkdtemp(join(tmpdir(), 'shells-'))));
  const workspace = join(folder, 'workspace');
  await mkdir(workspace, { recursive: true });
  const real = createSystemClock();
  const feed = new TaskOutputFeed();
  const processTree = createProcessTree({ clock: real, directory: join(folder, 'processes') });
  const process = createManagedShellProcessRunner({
    processTree,
    clock: real,
    onOutput: feed.take,
    environment: () => ({}),
  });
  const tasks = new BackgroundTaskManager({ runners: { process }, clock: real, maxConcurrent });
  const family = createShellTools({
    tasks,
    feed,
    clock,
    host: { ...nodeShellHost, ...host },
    environment,
    sessions,
    records,
  });
  const tools = new Map<string, Tool>(family.tools.map((tool) => [tool.definition.name, tool]));
  const toolOf = (name: string): Tool => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    return tool;
  };
  const call = async <Result>(name: string, input: object = {}, options: CallOptions = {}): Promise<Result> => {
    const tool = toolOf(name);
    const reading = readToolInput(tool.definition, input);
    if (!reading.ok) throw new Error(reading.reason);
    const { signal = new AbortController().signal, sessionId = SESSION_ID, subject, callId = 'call_1', wake } = options;
    const inside = 'environment' in options ? options.environment : sessionEnvironment;
    const context: ToolContext = {
      session: { sessionId, agentId: AGENT_ID },
      callId,
      workspaceDirectory: workspace,
      environment: inside,
      wake,
      signal,
      subject,
    };
    const result = await tool.run?.(reading.input, context);
    // As the log would hold it.
    return JSON.parse(JSON.stringify(result)) as Result;
  };
  return {
    workspace,
    tasks,
    call,
    exec: (command, input = {}, options = {}) => call('shell_exec', { command, ...input }, options),
    subject: (name, input, inside = sessionEnvironment) =>
      toolOf(name).subject?.(input, {
        session: { sessionId: SESSION_ID, agentId: AGENT_ID },
        workspaceDirectory: workspace,
        environment: inside,
      }),
    describe: family.describe,
    leftRunning: family.leftRunning,
    shellPid: () => tasks.list({ status: 'running' })[0]?.pid ?? 0,
    close: family.close,
    closeSession: family.closeSession,
    async [Symbol.asyncDispose]() {
      await family.close();
      await tasks.shutdown();
      if (given === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
