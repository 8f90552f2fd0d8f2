/**
 * A home with one agent that a real program runs, a workspace under git, a model server on loopback, and words for
 * tests about them. Everything between is real.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import type { ProviderSettings } from '../../src/machines/run/provider-settings.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import type { SessionIngress } from '../../src/machines/session/session-requests.ts';
import type { PendingAction } from '../../src/machines/session/session-state.ts';
import type { NodeRuntimeOptions } from '../../src/node/runtime-options.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import { start } from '../cli/command-line.ts';
import type { Ended, RunningCommand } from '../cli/command-line.ts';
import { processesLeft } from '../setup/processes-left.ts';
import type { LeftProcess } from '../setup/processes-left.ts';
import { Conversation, answerSideRequests } from '../support/http-models/conversation.ts';
import type { ConversationOptions } from '../support/http-models/conversation.ts';
import { ModelServer } from '../support/http-models/model-server.ts';
import { PINNED, programFile, programHome } from './programs.ts';
import type { ProgramName } from './programs.ts';
import { openTape } from './recording/recordings.ts';
import type { Tape, TapeOptions } from './recording/recordings.ts';

const AGENT = 'worker';
const PROVIDER = 'program';

/** What the settings of a provider are made of. */
export interface StageGround {
  readonly server: ModelServer;
  /** The folder that the program takes for that of its user. */
  readonly userHome: string;
  /** The program, with an environment of its own. Give it the variables that name the model server besides. */
  program(set?: Readonly<Record<string, string>>, args?: readonly string[]): NonNullable<ProviderSettings['program']>;
}

export interface StageOptions {
  readonly program: ProgramName;
  readonly provider: (ground: StageGround) => ProviderSettings | Promise<ProviderSettings>;
  /** What the agent file says, besides its provider. The model is `model-1` unless it says so. */
  readonly agent?: Partial<AgentFrontmatter>;
  readonly runtime?: Omit<NodeRuntimeOptions, 'home'>;
  readonly conversation?: ConversationOptions;
  /** A recording of what the program and we tell each other. A test with one ends with `concludes`. */
  readonly recording?: TapeOptions | undefined;
}

export type Decision = Omit<
  Extract<SessionIngress, { readonly type: 'user.tool_confirmation' }>,
  'type' | 'requestId' | 'toolName'
>;

type OpenGround = StageGround & AsyncDisposable;

interface StageParts extends Pick<Stage, 'runtime' | 'home' | 'workspace' | 'model'> {
  readonly ground: OpenGround;
  readonly conversation: ConversationOptions;
  readonly tape: Tape | undefined;
}

export class Stage implements AsyncDisposable {
  readonly runtime: Runtime;
  readonly home: string;
  readonly workspace: string;
  readonly model: string;
  readonly #ground: OpenGround;
  readonly #conversationOptions: ConversationOptions;
  readonly #conversations = new Map<string, Conversation>();

  readonly #tape: Tape | undefined;

  private constructor({ runtime, home, workspace, model, ground, conversation, tape }: StageParts) {
    this.runtime = runtime;
    this.home = home;
    this.workspace = workspace;
    this.model = model;
    this.#ground = ground;
    this.#conversationOptions = conversation;
    this.#tape = tape;
  }

  static async open({
    program,
    provider,
    agent = {},
    runtime: options = {},
    conversation = {},
    recording,
  }: StageOptions): Promise<Stage> {
    const ground = await groundOf(program);
    const taped = { program, version: PINNED[program].version, home: ground.userHome };
    const tape = recording === undefined ? undefined : await openTape(recording, taped);
    const home = join(ground.userHome, 'wakechart');
    const workspace = join(ground.userHome, 'project');
    await Promise.all([mkdir(home), mkdir(workspace)]);
    await promisify(execFile)('git', ['init', '--quiet'], { cwd: workspace });
    // JSON is YAML.
    await writeFile(
      join(home, 'providers.yaml'),
      JSON.stringify({ [PROVIDER]: withTape(await provider(ground), tape) }),
    );
    const runtime = await createNodeRuntime({ ...options, home });
    const model = agent.model ?? 'model-1';
    const frontmatter = { name: 'Worker', provider: PROVIDER, permission: 'ask' as const, ...agent, model };
    await runtime.agents.create({ agentId: AGENT, source: { frontmatter, instructions: 'You work as you are told.' } });
    answerSideRequests(ground.server, [model]);
    return new Stage({ runtime, home, workspace, model, ground, conversation, tape });
  }

  /** What the log says in the end, as the recording has it. */
  async concludes(story: unknown): Promise<void> {
    if (this.#tape === undefined) throw new Error('nothing is recorded on this stage');
    await this.#tape.concludes(story);
  }

  /** The folder that the program takes for that of its user. */
  get userHome(): string {
    return this.#ground.userHome;
  }

  get server(): ModelServer {
    return this.#ground.server;
  }

  /** What is played with the agent's model, or with another. */
  conversation(model = this.model): Conversation {
    const known = this.#conversations.get(model);
    if (known !== undefined) return known;
    const made = new Conversation(this.#conversationOptions);
    this.#conversations.set(model, made);
    this.server.when(model, made.behavior);
    return made;
  }

  /** A session of the agent in the workspace, with a message in it. */
  async session(message: string): Promise<string> {
    const { sessionId } = await this.runtime.sessions.create({ agentId: AGENT }, { workspace: this.workspace });
    await this.send(sessionId, message);
    return sessionId;
  }

  /** The same with a file that comes with the message. Resolves with where it lies in the workspace, too. */
  async sessionWith(message: string, path: string): Promise<{ readonly id: string; readonly place: string }> {
    const { sessionId } = await this.runtime.sessions.create({ agentId: AGENT }, { workspace: this.workspace });
    await this.runtime.sessions.send(sessionId, { type: 'user.message', text: message, attachments: [{ path }] });
    const [place = ''] = (await this.log(sessionId)).flatMap((event) =>
      event.type === 'user.message' ? (event.data.attachments ?? []).map((file) => file.path) : [],
    );
    return { id: sessionId, place: join(this.workspace, place) };
  }

  send(
    sessionId: string,
    text: string,
    delivery?: 'queue' | 'steer' | 'interrupt',
  ): ReturnType<Runtime['sessions']['send']> {
    const options = delivery === undefined ? {} : { delivery };
    return this.runtime.sessions.send(sessionId, { type: 'user.message', text }, options);
  }

  wake(sessionId: string): ReturnType<Runtime['wake']> {
    return this.runtime.wake(sessionId);
  }

  async log(sessionId: string): Promise<readonly SessionEvent[]> {
    const events: SessionEvent[] = [];
    for await (const event of this.runtime.sessions.events(sessionId)) events.push(event);
    return events;
  }

  /** Resolves with the request that waits for an answer, once there is one. `toolName`: only one about this tool. */
  async asked(sessionId: string, toolName?: string): Promise<PendingAction> {
    const waiting = async (): Promise<PendingAction | undefined> =>
      (await this.runtime.sessions.get(sessionId)).pendingActions.find(
        (action) => toolName === undefined || ('toolName' in action && action.toolName === toolName),
      );
    await expect.poll(waiting).toBeDefined();
    return (await waiting()) as PendingAction;
  }

  /** Answers the next request for a permission. */
  async confirm(sessionId: string, decision: Decision, toolName?: string): Promise<PendingAction> {
    const action = await this.asked(sessionId, toolName);
    await this.runtime.sessions.send(sessionId, {
      type: 'user.tool_confirmation',
      requestId: action.requestId,
      toolName: 'toolName' in action ? action.toolName : '',
      ...decision,
    });
    return action;
  }

  /** Allows what was asked last, whether that is still waited for or not. */
  async confirmLate(sessionId: string): ReturnType<Runtime['sessions']['send']> {
    const asked = (await this.log(sessionId)).flatMap((event) =>
      event.type === 'permission.requested' ? [event.data] : [],
    );
    const { requestId = '', toolName = '' } = asked.at(-1) ?? {};
    return this.runtime.sessions.send(sessionId, {
      type: 'user.tool_confirmation',
      requestId,
      toolName,
      allowed: true,
    });
  }

  /** Wakes the session, and allows whatever is asked meanwhile. */
  async wakeAllowing(sessionId: string): ReturnType<Runtime['wake']> {
    let isOver = false;
    const waking = this.wake(sessionId).finally(() => {
      isOver = true;
    });
    const answered = new Set<string>();
    const allowAll = async (): Promise<boolean> => {
      const { pendingActions } = await this.runtime.sessions.get(sessionId);
      for (const { requestId, kind, ...action } of pendingActions) {
        if (kind !== 'permission' || answered.has(requestId)) continue;
        answered.add(requestId);
        const toolName = 'toolName' in action ? action.toolName : '';
        await this.runtime.sessions.send(sessionId, {
          type: 'user.tool_confirmation',
          requestId,
          toolName,
          allowed: true,
        });
      }
      return isOver;
    };
    await expect.poll(allowAll).toBe(true);
    return waking;
  }

  file(name: string): Promise<string> {
    return readFile(join(this.workspace, name), 'utf8');
  }

  put(name: string, text: string): Promise<void> {
    return writeFile(join(this.workspace, name), text);
  }

  /** Our command line, from what is built, over the same home. */
  startCli(...words: readonly string[]): RunningCommand {
    return start([...words, '--home', this.home], { cwd: this.workspace });
  }

  cli(...words: readonly string[]): Promise<Ended> {
    return this.startCli(...words).ended;
  }

  /** Processes that live, of all that this test has started. */
  processes(): readonly LeftProcess[] {
    return processesLeft(process.env['TMPDIR'] ?? this.home);
  }

  /** Closes it all. @throws what was wrong with what the program asked its model */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.shutdown();
    await this.#ground[Symbol.asyncDispose]();
    // A recording asks no model.
    if (this.#tape?.isReplayed === true) return;
    const problems = [...this.#conversations].flatMap(([model, { problems: found, left }]) => [
      ...found.map((problem) => `${model}: ${problem}`),
      ...(left === 0 ? [] : [`${model}: ${left} answers were not asked for`]),
    ]);
    expect(problems).toEqual([]);
  }
}

function withTape(settings: ProviderSettings, tape: Tape | undefined): ProviderSettings {
  const { program } = settings;
  return tape === undefined || program === undefined ? settings : { ...settings, program: tape.program(program) };
}

async function groundOf(name: ProgramName): Promise<OpenGround> {
  const user = await programHome();
  const server = await ModelServer.start();
  return {
    server,
    userHome: user.path,
    program: (set = {}, args = []) => ({
      command: programFile(name),
      args: [...args],
      set: { ...user.environment, ...set },
    }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await user[Symbol.asyncDispose]();
    },
  };
}
