/** The file tools over a real workspace of a test's own, with a folder beside it that they must not touch. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PermissionSubject } from '../../../src/machines/permission/permission-subject.ts';
import type { Tool, ToolContext } from '../../../src/actors/turn/tool.ts';
import type { FileToolsOptions } from '../../../src/adapters/file-tools/file-tool-ports.ts';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { readToolInput } from '../../../src/machines/turn/tool-schema.ts';

export interface FileToolsSetup {
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Real path of a folder beside it, which holds `secret.txt`. */
  readonly outside: string;
  tool(name: string): Tool;
  /** What a call is allowed or denied by. */
  subject(name: string, input: unknown, environment?: ToolContext['environment']): PermissionSubject | undefined;
  /** Runs a tool as a call of a model is run: its input is checked first. */
  call(name: string, input: unknown, options?: CallOptions): Promise<unknown>;
  /** Puts a file into the workspace, behind the back of the tools. */
  put(path: string, content: string | Uint8Array): Promise<string>;
}

export interface CallOptions {
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
  /** What was allowed. */
  readonly subject?: PermissionSubject | undefined;
  readonly environment?: ToolContext['environment'];
}

export interface SetupOptions extends FileToolsOptions {
  /** Whether the folder beside the workspace may be read. */
  readonly mayReadOutside?: boolean;
  /** The home of Wakechart, from the folder that the workspace lies in. */
  readonly homeIn?: string;
}

export const SECRET = 'the secret of somebody else';

export async function fileToolsSetup({
  mayReadOutside = false,
  homeIn,
  ...options
}: SetupOptions = {}): Promise<FileToolsSetup> {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'file-tools-')));
  onTestFinished(() => rm(top, { recursive: true, force: true }));
  const workspace = join(top, 'workspace');
  const outside = join(top, 'outside');
  await Promise.all([mkdir(workspace), mkdir(outside)]);
  await writeFile(join(outside, 'secret.txt'), SECRET);
  const tools = new Map(
    createFileTools({
      ...options,
      ...(homeIn === undefined ? {} : { home: join(top, homeIn) }),
      ...(mayReadOutside ? { readRoots: [outside] } : {}),
    }).map((tool) => [tool.definition.name, tool]),
  );
  const tool = (name: string): Tool => {
    const found = tools.get(name);
    if (found === undefined) throw new Error(`there is no tool ${name}`);
    return found;
  };
  return {
    workspace,
    outside,
    tool,
    subject: (name, input, environment) =>
      tool(name).subject?.(input, {
        session: { sessionId: 'session', agentId: 'agent' },
        workspaceDirectory: workspace,
        environment,
      }),
    async call(
      name,
      input,
      { sessionId = 'session', signal = new AbortController().signal, subject, environment } = {},
    ) {
      const reading = readToolInput(tool(name).definition, input);
      if (!reading.ok) throw new Error(reading.reason);
      return tool(name).run?.(reading.input, {
        session: { sessionId, agentId: 'agent' },
        callId: 'call',
        workspaceDirectory: workspace,
        signal,
        subject,
        environment,
      });
    },
    async put(path, content) {
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await writeFile(join(workspace, path), content);
      return join(workspace, path);
    },
  };
}

/** The code that a call is refused with; no refusal tells how a file was reached. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    const { code, message, hint } = error as {
      readonly code?: string;
      readonly message: string;
      readonly hint?: string;
    };
    if (message.includes('/proc/self/fd') || hint === undefined) throw error;
    return code ?? message;
  }
  return 'no refusal';
}
