/** An MCP server over a runtime: its sessions and tasks as tools, for clients on standard input and output. */
import type { Readable, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type {
  CallToolResult,
  CreateTaskResult,
  ServerNotification,
  ServerRequest,
  Tool,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { awaitTurn } from '../../actors/protocol/await-turn.ts';
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import type { TurnNews } from '../../actors/protocol/turn-watch.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { cutText } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { TurnRef } from '../../machines/protocol/turn.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { elicitAnswer, isForPerson } from './elicitation.ts';
import { loadMcpServerSdk } from './load-sdk.ts';
import type { McpServerSdk } from './load-sdk.ts';
import { SessionTools, sessionRecord } from './session-tools.ts';
import type { CallSurroundings } from './session-tools.ts';
import { TaskTools } from './task-tools.ts';
import { toolInputs, toolWords } from './tool-definitions.ts';
import type { ToolInput, ToolName } from './tool-definitions.ts';
import { resultOf } from './turn-result.ts';
import { TurnTasks } from './turn-tasks.ts';

export interface McpServerOptions {
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  /** Where commands run that say nothing of it; absolute. */
  readonly cwd: string;
  /** Calls of tools can allow what sessions ask permission for. */
  readonly allowAnswers: boolean;
  /** Calls of tools can run commands. */
  readonly allowCommands: boolean;
  /** Hears trouble that ends nothing. */
  readonly onTrouble: (error: unknown) => void;
}

export interface McpService {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A person may think about a form as long as they like, within what a timer can count. */
const FORM_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_PROGRESS_CHARACTERS = 500;

const INSTRUCTIONS =
  'Agents that work in sessions: durable, in the background, with a log. Start one with session_start, wait with session_wait, go on with session_send. What needs a permission is asked of a person.';

/** @throws RuntimeError MCP_SDK_MISSING */
export async function serveMcp(runtime: ProtocolRuntime, options: McpServerOptions): Promise<McpService> {
  const service = new McpConnection(runtime, options, await loadMcpServerSdk());
  await service.open();
  return service;
}

class McpConnection implements McpService {
  readonly closed: Promise<void>;
  readonly #options: McpServerOptions;
  readonly #sdk: McpServerSdk;
  readonly #runtime: ProtocolRuntime;
  readonly #sessions: SessionTools;
  readonly #tasks: TaskTools;
  readonly #turns: TurnTasks;
  /** Below its table of tools, which knows no tasks that are read from elsewhere. */
  readonly #server: McpServer['server'];
  /** Aborted when the client has gone. */
  readonly #gone = new AbortController();

  constructor(runtime: ProtocolRuntime, options: McpServerOptions, sdk: McpServerSdk) {
    this.#runtime = runtime;
    this.#options = options;
    this.#sdk = sdk;
    this.#sessions = new SessionTools(runtime, {
      mayAllow: options.allowAnswers,
      mayPlace: options.allowCommands,
    });
    this.#tasks = new TaskTools(runtime, options);
    this.#turns = new TurnTasks(runtime.sessions);
    this.#server = new sdk.McpServer(
      { name: 'wakechart', version: options.version },
      {
        capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
        instructions: INSTRUCTIONS,
        taskStore: this.#turns,
        taskMessageQueue: new sdk.InMemoryTaskMessageQueue(),
      },
    ).server;
    this.closed = new Promise((resolve) => this.#gone.signal.addEventListener('abort', () => resolve()));
  }

  async open(): Promise<void> {
    const { input, output, onTrouble } = this.#options;
    const { ListToolsRequestSchema, CallToolRequestSchema } = this.#sdk.types;
    this.#server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: this.#listed() }));
    this.#server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
      this.#call(params.name, params.arguments ?? {}, extra, params.task !== undefined),
    );
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has fields for its listeners, and no events.
    this.#server.onerror = onTrouble;
    const close = (): void => void this.close().catch(onTrouble);
    input.once('end', close);
    input.once('close', close);
    output.once('error', close);
    await this.#server.connect(new this.#sdk.StdioServerTransport(input, output));
  }

  async close(): Promise<void> {
    // First: calls that end now were not taken back.
    this.#gone.abort();
    await this.#server.close();
  }

  #names(): readonly ToolName[] {
    // The keys of the table are its names, by construction of the type.
    const names = Object.keys(toolInputs) as ToolName[];
    return names.filter((name) => name !== 'task_start' || this.#options.allowCommands);
  }

  #listed(): Tool[] {
    return this.#names().map((name) => {
      const { description, does, isTask } = toolWords[name];
      const schema = z.toJSONSchema(toolInputs[name], { io: 'input' });
      return {
        name,
        description,
        // An object, as every schema of the table is.
        inputSchema: schema as Tool['inputSchema'],
        annotations: {
          readOnlyHint: does === 'reads',
          destructiveHint: does === 'ends',
          openWorldHint: does !== 'reads',
        },
        ...(isTask === true ? { execution: { taskSupport: 'optional' } } : {}),
      };
    });
  }

  async #call(name: string, given: unknown, extra: Extra, isTask: boolean): Promise<CallToolResult | CreateTaskResult> {
    const known = this.#names().find((each) => each === name);
    if (known === undefined)
      throw new this.#sdk.types.McpError(this.#sdk.types.ErrorCode.InvalidParams, `there is no tool ${name}`);
    try {
      if (!isTask) return await this.#result(known, given, this.#surroundings(extra));
      return { task: await this.#turns.begin(await this.#begunTurn(known, given)) };
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      // A call that was to begin a task has no other way to say that it did not.
      if (isTask)
        throw new this.#sdk.types.McpError(this.#sdk.types.ErrorCode.InvalidParams, `${error.message} [${error.code}]`);
      return failureOf(error);
    }
  }

  async #result(name: ToolName, given: unknown, call: CallSurroundings): Promise<CallToolResult> {
    const sessions = this.#sessions;
    switch (name) {
      case 'agents_list':
        readInput(name, given);
        return resultOf(await sessions.agents());
      case 'sessions_list':
        return resultOf(await sessions.list(readInput(name, given)));
      case 'session_start': {
        const input = readInput(name, given);
        const { created, ref } = await sessions.start(input);
        if (ref === undefined) return resultOf(sessionRecord(created));
        return resultOf(await sessions.follow(ref, input.waitSeconds, call));
      }
      case 'session_send': {
        const input = readInput(name, given);
        return resultOf(await sessions.follow(await sessions.send(input), input.waitSeconds, call));
      }
      case 'session_wait':
        return resultOf(await sessions.wait(readInput(name, given), call));
      case 'session_read':
        return resultOf(await sessions.read(readInput(name, given)));
      case 'session_answer':
        return resultOf(await sessions.answer(readInput(name, given)));
      case 'session_interrupt':
        return resultOf(await sessions.interrupt(readInput(name, given)));
      case 'session_stop':
        return resultOf(await sessions.stop(readInput(name, given)));
      case 'tasks_list':
        readInput(name, given);
        return resultOf(this.#tasks.list());
      case 'task_start':
        return resultOf(await this.#tasks.start(readInput(name, given)));
      case 'task_read':
        return resultOf(await this.#tasks.read(readInput(name, given), call.signal));
      case 'task_stop':
        return resultOf(await this.#tasks.stop(readInput(name, given)));
    }
  }

  /** What a task of the protocol is: a turn, which asks its person as long as this client is there. */
  async #begunTurn(name: ToolName, given: unknown): Promise<TurnRef> {
    const ref = await this.#turnToBegin(name, given);
    const ask = this.#asker(ref);
    if (ask !== undefined)
      awaitTurn(this.#runtime.sessions, ref, { signal: this.#gone.signal, ask }).catch(this.#options.onTrouble);
    return ref;
  }

  async #turnToBegin(name: ToolName, given: unknown): Promise<TurnRef> {
    if (name === 'session_send') return this.#sessions.send(readInput(name, given));
    const input = name === 'session_start' ? readInput(name, given) : undefined;
    if (input?.message === undefined)
      throw invalid(`${name} is no task: ${input === undefined ? 'it is done at once' : 'it needs a message'}`);
    const { created, ref } = await this.#sessions.start(input);
    return ref ?? { sessionId: created.sessionId, seq: created.head };
  }

  #surroundings({ signal, _meta, sendNotification }: Extra): CallSurroundings {
    const progressToken = _meta?.progressToken;
    let progress = 0;
    const onNews = ({ event }: TurnNews): void => {
      const message = progressText(event);
      if (progressToken === undefined || message === undefined) return;
      progress += 1;
      void sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, message },
      }).catch(this.#options.onTrouble);
    };
    return {
      signal,
      isCancelled: () => signal.aborted && !this.#gone.signal.aborted,
      onNews,
      ask: this.#asker(),
    };
  }

  /** Undefined where the client shows no forms. @param task the turn that the client follows as a task */
  #asker(task?: TurnRef): CallSurroundings['ask'] {
    if (this.#server.getClientCapabilities()?.elicitation?.form === undefined) return undefined;
    const related = task === undefined ? {} : { relatedTask: { taskId: `${task.sessionId}.${task.seq}` } };
    return async (asked: AskedRequest, signal: AbortSignal) => {
      // A task goes on to be watched, a call comes back with what is asked.
      if (!isForPerson(asked)) return task !== undefined;
      try {
        const hasAnswer = await elicitAnswer(this.#runtime.sessions, asked, {
          signal,
          elicit: (form, closed) =>
            this.#server.elicitInput(form, { ...related, signal: closed, timeout: FORM_TIMEOUT_MS }),
        });
        return hasAnswer || task !== undefined;
      } catch (error) {
        // Another client was faster.
        if (RuntimeError.is(error) && error.category === 'conflict') return true;
        throw error;
      }
    };
  }
}

function readInput<Name extends ToolName>(name: Name, given: unknown): ToolInput<Name> {
  // The parsed value is what the schema of that name gives.
  return parseOrThrow(toolInputs[name], given, {
    what: `input of ${name}`,
    code: 'MCP_CALL_INVALID',
    hint: 'tools/list says what each tool takes.',
  }) as ToolInput<Name>;
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('MCP_CALL_INVALID', message, {
    category: 'validation',
    hint: 'session_start with a message, and session_send, can be tasks.',
  });
}

function failureOf(error: RuntimeError): CallToolResult {
  const { code, category, recoverable, message, hint } = error.toJSON();
  const text = `${message} [${code}]${hint === undefined ? '' : `\nhint: ${hint}`}`;
  return {
    isError: true,
    content: [{ type: 'text', text }],
    structuredContent: { error: { code, category, recoverable, message, ...(hint === undefined ? {} : { hint }) } },
  };
}

function progressText(event: TurnNews['event']): string | undefined {
  const text =
    event.type === 'agent.message'
      ? event.data.text
      : event.type === 'agent.tool_use'
        ? `uses ${event.data.name}`
        : undefined;
  return text === undefined ? undefined : cutText(text, MAX_PROGRESS_CHARACTERS);
}
