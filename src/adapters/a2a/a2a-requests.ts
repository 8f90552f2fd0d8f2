/**
 * What A2A asks of an agent, answered from the logs of its sessions: a context is a session, a task is one of its turns.
 * What tasks are is read from the logs, so they are the same for every process and after a restart.
 */
import type { AgentCard, Message, StreamResponse, Task } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { InspectionAnswer } from '../../actors/inspection/inspection-source.ts';
import { storeAnswer } from '../../actors/inspection/session-answer.ts';
import { awaitTurn } from '../../actors/protocol/await-turn.ts';
import { cancelTurn } from '../../actors/protocol/cancel-turn.ts';
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import { followTurn, readTurn } from '../../actors/protocol/turn-watch.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { sha256, sha256Hex } from '../../actors/sha256.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { UUID_V7_RANDOM_BYTES, formatUuidV7, unixMsOf } from '../../machines/ids.ts';
import { hasEnded, parseTurnId } from '../../machines/protocol/turn.ts';
import type { TurnRef } from '../../machines/protocol/turn.ts';
import { agentMessageJson, artifactJson, statusJson, taskJson } from './a2a-task.ts';
import type { A2aSdk } from './load-sdk.ts';

export interface A2aRequestsOptions {
  readonly agentId: string;
  readonly card: AgentCard;
  /** Messages can allow what sessions ask permission for. */
  readonly allowAnswers: boolean;
  /** Aborted when nothing is served any more. */
  readonly signal: AbortSignal;
}

type Context = Parameters<A2ARequestHandler['sendMessage']>[1];
type Params<Method extends Exclude<keyof A2ARequestHandler, 'getAgentCard'>> = Parameters<A2ARequestHandler[Method]>[0];

/** Under this key the request's own signal stands in its context. */
export const SIGNAL = 'wakechart.signal';

/** With a UUID in it. What is counted may be another client's id too, whose session is not for this one. */
const UNIQUE_ID = /[0-9a-f]{8}(-?)[0-9a-f]{4}\1[1-8][0-9a-f]{3}\1[89ab][0-9a-f]{3}\1[0-9a-f]{12}/i;

/** Turns of one session that are listed: the newest. */
const MAX_LISTED = 100;

export class A2aRequests implements A2ARequestHandler {
  readonly #runtime: ProtocolRuntime;
  readonly #options: A2aRequestsOptions;
  readonly #sdk: A2aSdk;

  constructor(runtime: ProtocolRuntime, options: A2aRequestsOptions, sdk: A2aSdk) {
    this.#runtime = runtime;
    this.#options = options;
    this.#sdk = sdk;
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#options.card);
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(new this.#sdk.errors.ExtendedAgentCardNotConfiguredError('there is no extended card'));
  }

  async sendMessage({ message, configuration }: Params<'sendMessage'>, context: Context): Promise<Task> {
    const ref = await this.#begin(message);
    const { sessions } = this.#runtime;
    const { turn, asked } =
      configuration?.returnImmediately === true
        ? await readTurn(sessions, ref)
        : await awaitTurn(sessions, ref, { signal: this.#signal(context) });
    return this.#task(taskJson(turn, asked));
  }

  async *sendMessageStream(
    { message }: Params<'sendMessageStream'>,
    context: Context,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* this.#stream(await this.#begin(message), context);
  }

  async *resubscribe({ id }: Params<'resubscribe'>, context: Context): AsyncGenerator<StreamResponse, void, undefined> {
    const ref = await this.#found(id);
    if (hasEnded((await readTurn(this.#runtime.sessions, ref)).turn))
      throw new this.#sdk.errors.UnsupportedOperationError(`task ${id} has ended; get it instead`);
    yield* this.#stream(ref, context);
  }

  async getTask({ id }: Params<'getTask'>): Promise<Task> {
    const { turn, asked } = await readTurn(this.#runtime.sessions, await this.#found(id));
    return this.#task(taskJson(turn, asked));
  }

  async cancelTask({ id }: Params<'cancelTask'>): Promise<Task> {
    const ref = await this.#found(id);
    const { sessions } = this.#runtime;
    const before = await readTurn(sessions, ref);
    if (hasEnded(before.turn)) throw new this.#sdk.errors.TaskNotCancelableError(`task ${id} has ended`);
    const turn = await cancelTurn(sessions, ref, 'a client of A2A cancelled the task');
    if (!hasEnded(turn))
      throw new this.#sdk.errors.TaskNotCancelableError(`the message of task ${id} waits for a worker`);
    return this.#task(taskJson(turn, []));
  }

  /** Those of one context. */
  async listTasks({ contextId }: Params<'listTasks'>): ReturnType<A2ARequestHandler['listTasks']> {
    if (contextId === '')
      throw new this.#sdk.errors.UnsupportedOperationError('tasks are listed for one context: name its contextId');
    const { sessionId } = await this.#session(contextId);
    const refs: TurnRef[] = [];
    for await (const { type, seq } of this.#runtime.sessions.events(sessionId))
      if (type === 'user.message') refs.push({ sessionId, seq });
    const listed = await Promise.all(refs.slice(-MAX_LISTED).map((ref) => readTurn(this.#runtime.sessions, ref)));
    const tasks = listed.map(({ turn, asked }) => this.#task(taskJson(turn, asked))).toReversed();
    return { tasks, nextPageToken: '', pageSize: tasks.length, totalSize: refs.length };
  }

  createTaskPushNotificationConfig(): Promise<never> {
    return this.#noPushing();
  }

  getTaskPushNotificationConfig(): Promise<never> {
    return this.#noPushing();
  }

  listTaskPushNotificationConfigs(): Promise<never> {
    return this.#noPushing();
  }

  deleteTaskPushNotificationConfig(): Promise<never> {
    return this.#noPushing();
  }

  #noPushing(): Promise<never> {
    return Promise.reject(
      new this.#sdk.errors.PushNotificationNotSupportedError('nothing is pushed: follow the stream of the task'),
    );
  }

  /** What each event changes, until the task has ended or asks for something. */
  async *#stream(ref: TurnRef, context: Context): AsyncGenerator<StreamResponse, void, undefined> {
    const { StreamResponse } = this.#sdk.core;
    let told: string | undefined;
    for await (const { turn, asked, event } of followTurn(this.#runtime.sessions, ref, {
      signal: this.#signal(context),
    })) {
      const ids = { taskId: `${ref.sessionId}.${ref.seq}`, contextId: ref.sessionId };
      const status = statusJson(turn, asked);
      if (told === undefined) yield StreamResponse.fromJSON({ task: taskJson(turn, asked) });
      else if (event.type === 'agent.message' && event.sessionId === ref.sessionId && event.data.text !== '')
        yield StreamResponse.fromJSON({
          statusUpdate: {
            ...ids,
            status: { ...status, message: agentMessageJson(turn, `said.${event.seq}`, [{ text: event.data.text }]) },
          },
        });
      if (hasEnded(turn) && turn.answer !== undefined)
        yield StreamResponse.fromJSON({
          artifactUpdate: { ...ids, artifact: artifactJson(turn, turn.answer), append: false, lastChunk: true },
        });
      const state = String(status['state']);
      if (told !== undefined && told !== state) yield StreamResponse.fromJSON({ statusUpdate: { ...ids, status } });
      told = state;
      if (asked.length > 0) return;
    }
  }

  /** Sends the message, or answers with it what its task asks. */
  async #begin(message: Message | undefined): Promise<TurnRef> {
    const text = this.#text(message);
    if (message === undefined || text === '')
      throw new this.#sdk.errors.RequestMalformedError('the message holds no text');
    const { sessions } = this.#runtime;
    const once = await onceFor(message.messageId, text);
    if (message.taskId !== '') {
      const ref = await this.#found(message.taskId);
      if (await this.#hasAnswered(ref, once)) return ref;
      const { turn, asked } = await readTurn(sessions, ref);
      if (hasEnded(turn))
        throw new this.#sdk.errors.UnsupportedOperationError(
          `task ${message.taskId} has ended; send without a taskId, with its contextId`,
        );
      const [first] = asked;
      if (first !== undefined) {
        const eventId = await answerIdOf(first.sessionId, once);
        await storeAnswer(sessions, first.sessionId, this.#answer(first, text), eventId);
        return ref;
      }
    }
    const { sessionId } =
      message.contextId === '' && message.taskId === ''
        ? // Its client may not have heard of the session. Others count their messages from 1, each time anew.
          await sessions.create({ agentId: this.#options.agentId }, UNIQUE_ID.test(message.messageId) ? once : {})
        : await this.#session(message.contextId || (parseTurnId(message.taskId)?.sessionId ?? ''));
    const { seq } = await sessions.send(sessionId, { type: 'user.message', text }, once);
    return { sessionId, seq };
  }

  /** A message that comes again answers nothing that was asked since, in the session or in those that work for it. */
  async #hasAnswered({ sessionId, seq: from }: TurnRef, once: Once): Promise<boolean> {
    const eventId = await answerIdOf(sessionId, once);
    if (eventId === undefined) return false;
    const children: string[] = [];
    for await (const { id, type, data } of this.#runtime.sessions.events(sessionId, { from }))
      if (id === eventId) return true;
      else if (type === 'agent.subflow_started') children.push(data.childSessionId);
    for (const child of children)
      if (await this.#hasAnswered({ sessionId: child, seq: 1 }, once).catch(unlessMissing)) return true;
    return false;
  }

  /** The agent at the other end decides about no permission, unless a person said that it may. */
  #answer({ kind, requestId }: AskedRequest, text: string): InspectionAnswer {
    if (kind !== 'permission') return { type: 'answer', requestId, text };
    const word = text.trim().toLowerCase();
    if (word === 'deny') return { type: 'deny', requestId };
    if (!this.#options.allowAnswers)
      throw new this.#sdk.errors.UnsupportedOperationError(
        'a permission is given by a person, where the agent runs; this client can only answer "deny"',
      );
    if (word === 'allow') return { type: 'allow', requestId };
    throw new this.#sdk.errors.RequestMalformedError('it asks for a permission: answer "allow" or "deny"');
  }

  #text(message: Message | undefined): string {
    const texts = (message?.parts ?? []).map(({ content }) => {
      if (content?.$case === 'text') return content.value;
      if (content?.$case === 'data') return JSON.stringify(content.value);
      if (content?.$case === 'url') return content.value;
      throw new this.#sdk.errors.ContentTypeNotSupportedError('expected text, data or links');
    });
    return texts.join('\n\n').trim();
  }

  /** Only sessions of the agent that is served are there. */
  async #session(sessionId: string): Promise<{ readonly sessionId: string }> {
    const state = await this.#runtime.sessions.status(sessionId).catch(unlessMissing);
    if (state?.agentId === this.#options.agentId) return state;
    throw new this.#sdk.errors.TaskNotFoundError(`there is no context ${sessionId}`);
  }

  async #found(taskId: string): Promise<TurnRef> {
    const ref = parseTurnId(taskId);
    if (ref !== undefined) {
      await this.#session(ref.sessionId);
      if ((await readTurn(this.#runtime.sessions, ref).catch(unlessMissing)) !== undefined) return ref;
    }
    throw new this.#sdk.errors.TaskNotFoundError(`there is no task ${taskId}`);
  }

  #signal({ state }: Context): AbortSignal {
    const own = state.get(SIGNAL);
    return own instanceof AbortSignal ? AbortSignal.any([own, this.#options.signal]) : this.#options.signal;
  }

  #task(json: object): Task {
    return this.#sdk.core.Task.fromJSON(json);
  }
}

interface Once {
  readonly idempotencyKey?: string;
}

/** Ids of messages are of any length; keys have a limit. */
async function onceFor(messageId: string, text: string): Promise<Once> {
  if (messageId === '') return {};
  return { idempotencyKey: `a2a:${await sha256Hex(JSON.stringify([messageId, text]))}` };
}

/** Of the answer that a message is, with the time of the session. Undefined: the message has no id. */
async function answerIdOf(sessionId: string, { idempotencyKey }: Once): Promise<string | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const digest = await sha256(sessionId + idempotencyKey);
  const random = digest.subarray(0, UUID_V7_RANDOM_BYTES);
  return formatUuidV7({ unixMs: unixMsOf(sessionId), counter: 0, random });
}

function unlessMissing(error: unknown): undefined {
  if (RuntimeError.is(error) && (error.category === 'not_found' || error.category === 'validation')) return undefined;
  throw error;
}
