/**
 * One turn of Codex, as its app server tells it: a thread is begun or taken up again, and a turn is started in it. Its
 * questions and ours go over the same two pipes.
 */
import type { RunPermissionAnswer } from '../../actors/run/agent-runtime.ts';
import { CodexAsks } from './codex-asks.ts';
import type { OpenItem } from './codex-asks.ts';
import { codexFailure } from './codex-failures.ts';
import {
  errorNews,
  inputOf,
  itemNews,
  noticeLine,
  planNews,
  requestLine,
  resolved,
  rpcMessage,
  summaryPart,
  terminalNews,
  textDelta,
  threadAnswer,
  turnAnswer,
  turnCompleted,
  turnStarted,
} from './codex-protocol.ts';
import type { RpcId, RpcMessage, TurnError } from './codex-protocol.ts';
import type { CodexSettings } from './codex-settings.ts';
import { CodexText } from './codex-text.ts';
import { callOf, endOf } from './codex-tools.ts';
import { CodexUsage } from './codex-usage.ts';
import type { CliConversation, CliFact, CliFailure, CliFinish, CliReading, CliTurn } from './dialect.ts';
import { objectIn } from './json-lines.ts';

type Answered = Pick<RpcMessage, 'result' | 'error'>;
type Facts = readonly CliFact[];

export interface CodexConversationOptions {
  readonly settings: CodexSettings;
  /** Of an account that is ours: it does not find it by itself. */
  readonly apiKey: string | undefined;
}

export class CodexConversation implements CliConversation {
  readonly args: readonly string[];
  readonly opening: string;
  readonly keepsInputOpen = true;
  readonly #turn: CliTurn;
  readonly #options: CodexConversationOptions;
  readonly #text = new CodexText();
  readonly #usage = new CodexUsage();
  readonly #open = new Map<string, OpenItem>();
  readonly #asks = new CodexAsks((fits) => [...this.#open.values()].find(fits));
  readonly #answers = new Map<RpcId, (answered: Answered) => Facts>();
  /** Turns that began here, those of subagents too. */
  readonly #turns = new Set<string>();
  /** Messages of the user that came before the turn had begun. */
  readonly #waiting: string[] = [];
  /** Messages of which it is unknown whether the turn takes them. */
  #unsettled = 0;
  #requests = 0;
  #counted = 0;
  #threadId: string | undefined;
  #turnId: string | undefined;
  #finish: CliFinish | undefined;
  #complaint: CliFailure | undefined;

  readonly #readers: Readonly<Record<string, (params: unknown) => Facts>> = {
    'turn/started': (params) => this.#readTurnStarted(params),
    'turn/completed': (params) => this.#readTurnCompleted(params),
    'thread/tokenUsage/updated': (params) => this.#readUsage(params),
    'item/started': (params) => this.#readItem(params, false),
    'item/completed': (params) => this.#readItem(params, true),
    'item/agentMessage/delta': (params) => this.#readDelta('text', params),
    'item/reasoning/summaryTextDelta': (params) => this.#readDelta('reasoning', params),
    'item/reasoning/summaryPartAdded': (params) => this.#readPart(params),
    'item/commandExecution/terminalInteraction': (params) => this.#readTyped(params),
    'turn/plan/updated': (params) => this.#readPlan(params),
    'serverRequest/resolved': (params) => this.#readResolved(params),
    error: (params) => this.#readError(params),
  };

  constructor(turn: CliTurn, options: CodexConversationOptions) {
    this.#turn = turn;
    this.#options = options;
    this.args = options.settings.args;
    this.opening = this.#request(
      'initialize',
      {
        clientInfo: { name: 'wakechart', title: 'Wakechart', version: '1' },
        capabilities: { experimentalApi: false, requestAttestation: false, optOutNotificationMethods: UNREAD },
      },
      (answered) => this.#begin(answered),
    );
  }

  read(line: string): CliReading {
    const { data: message } = rpcMessage.safeParse(objectIn(line));
    if (message === undefined) return 'noise';
    const { id, method, params } = message;
    if (id !== undefined && method !== undefined) return this.#asks.read(id, method, params);
    if (id !== undefined) return this.#readAnswer(id, message);
    if (method === undefined) return 'noise';
    return (Object.hasOwn(this.#readers, method) ? this.#readers[method]?.(params) : undefined) ?? [];
  }

  interruption(): string {
    if (this.#threadId === undefined || this.#turnId === undefined) return '';
    return this.#request('turn/interrupt', { threadId: this.#threadId, turnId: this.#turnId }, () => []);
  }

  furtherMessage(text: string): string {
    if (this.#threadId === undefined || (this.#turnId === undefined && this.#finish === undefined)) {
      this.#waiting.push(text);
      return '';
    }
    this.#unsettled += 1;
    return this.#turnId === undefined ? this.#startTurn(text) : this.#steer(text);
  }

  answer(askId: string, answer: RunPermissionAnswer): string {
    const { text, callName } = this.#asks.answer(askId, answer);
    if (answer.decision === 'allow' || this.#turnId === undefined) return text;
    // A denial has no words of its own. They are told before it: a message that comes while its model answers has the
    // model asked anew. It matters not whether the turn still takes them.
    const note = inputOf(`${callName} was not permitted: ${answer.message}`);
    return this.#request('turn/steer', this.#steering(note), () => []) + text;
  }

  lastComplaint(): CliFailure | undefined {
    return this.#complaint;
  }

  #request(method: string, params: unknown, onAnswer: (answered: Answered) => Facts): string {
    this.#requests += 1;
    this.#answers.set(this.#requests, onAnswer);
    return requestLine(this.#requests, method, params);
  }

  #readAnswer(id: RpcId, answered: Answered): CliReading {
    const onAnswer = this.#answers.get(id);
    this.#answers.delete(id);
    return onAnswer?.(answered) ?? 'unknown';
  }

  #begin({ error }: Answered): Facts {
    if (error !== undefined) return failed({ message: `it refused to begin: ${error.message}` });
    const { apiKey } = this.#options;
    const next =
      apiKey === undefined
        ? this.#openThread()
        : this.#request('account/login/start', { type: 'apiKey', apiKey }, (answered) =>
            answered.error === undefined
              ? [reply(this.#openThread())]
              : failed({ kind: 'auth', message: `it does not take the key: ${answered.error.message}` }),
          );
    return [reply(noticeLine('initialized') + next)];
  }

  #openThread(): string {
    const { model, instructions, resumedSessionId, workspaceDir } = this.#turn;
    const { sandbox, approvalPolicy } = this.#options.settings;
    const how = { cwd: workspaceDir, approvalPolicy, sandbox, ...(model === undefined ? {} : { model }) };
    // A session that goes on has been told its instructions.
    return resumedSessionId === undefined
      ? this.#request(
          'thread/start',
          { ...how, ...(instructions === undefined ? {} : { developerInstructions: instructions }) },
          (answered) => this.#readThread(answered),
        )
      : this.#request('thread/resume', { ...how, threadId: resumedSessionId, excludeTurns: true }, (answered) =>
          this.#readThread(answered),
        );
  }

  #readThread({ result, error }: Answered): Facts {
    const { resumedSessionId, prompt } = this.#turn;
    const threadId = threadAnswer.safeParse(result).data?.thread.id;
    if (threadId === undefined) {
      const because = error?.message ?? 'it did not name the thread';
      return resumedSessionId === undefined
        ? failed({ message: `it began no thread: ${because}`, otherwise: 'format' })
        : [{ kind: 'session_gone', because }];
    }
    // Another one has not seen the conversation.
    if (resumedSessionId !== undefined && threadId !== resumedSessionId)
      return [{ kind: 'session_gone', because: `it began another session (${threadId}) instead` }];
    this.#threadId = threadId;
    return [{ kind: 'session', sessionId: threadId }, reply(this.#startTurn(prompt))];
  }

  #startTurn(text: string): string {
    return this.#request('turn/start', { threadId: this.#threadId, input: inputOf(text) }, ({ result, error }) => {
      const turnId = turnAnswer.safeParse(result).data?.turn.id;
      if (turnId === undefined)
        return failed({ message: `it began no turn: ${error?.message ?? 'it did not name it'}`, otherwise: 'format' });
      this.#unsettled = Math.max(0, this.#unsettled - 1);
      this.#beginTurn(turnId);
      return this.#waiting.splice(0).map((message) => reply(this.furtherMessage(message)));
    });
  }

  #beginTurn(turnId: string): void {
    if (this.#turns.has(turnId)) return;
    this.#turns.add(turnId);
    this.#turnId = turnId;
    this.#finish = undefined;
  }

  /** What comes too late for the turn begins another. */
  #steer(text: string): string {
    return this.#request('turn/steer', this.#steering(inputOf(text)), ({ error }) => {
      if (error !== undefined) return [reply(this.#startTurn(text))];
      this.#unsettled = Math.max(0, this.#unsettled - 1);
      return this.#finish === undefined ? [] : [this.#finished(this.#finish)];
    });
  }

  #steering(input: readonly unknown[]): object {
    return { threadId: this.#threadId, expectedTurnId: this.#turnId, input };
  }

  #readTurnStarted(params: unknown): Facts {
    const { data } = turnStarted.safeParse(params);
    if (data === undefined) return [];
    const { threadId, turn } = data;
    const isUnasked = threadId === this.#threadId && this.#finish !== undefined && this.#unsettled === 0;
    if (isUnasked) return [{ kind: 'step_begun' }];
    if (threadId === this.#threadId) this.#beginTurn(turn.id);
    this.#turns.add(turn.id);
    return [];
  }

  #readTurnCompleted(params: unknown): Facts {
    const { data } = turnCompleted.safeParse(params);
    if (data === undefined || data.threadId !== this.#threadId) return [];
    const { status, error } = data.turn;
    this.#turnId = undefined;
    const { usage, modelSteps } = this.#usage;
    this.#finish = { failure: this.#failureOf(status, error), usage, modelSteps, goesOn: 'no' };
    return [this.#finished(this.#finish)];
  }

  #finished(finish: CliFinish): CliFact {
    const goesOn = finish.failure === undefined && this.#unsettled > 0 ? 'surely' : 'no';
    return { kind: 'finished', finish: { ...finish, goesOn } };
  }

  #failureOf(status: string, error: TurnError | null | undefined): CliFailure | undefined {
    if (status === 'completed') return undefined;
    if (error !== undefined && error !== null) return codexFailure(error);
    return (
      this.#complaint ?? { message: `its turn ended as ${status}, and it did not say why`, otherwise: 'server_error' }
    );
  }

  #readUsage(params: unknown): Facts {
    this.#usage.read(params, (turnId) => this.#turns.has(turnId));
    return [];
  }

  /** It may be about a connection that is tried again: only the end of the turn tells whether it was the end. */
  #readError(params: unknown): Facts {
    const { data } = errorNews.safeParse(params);
    if (data !== undefined) this.#complaint = codexFailure(data.error);
    return [];
  }

  /** What a subagent of it says is not said to us; what it does is done all the same. */
  #readItem(params: unknown, isOver: boolean): Facts {
    const { data } = itemNews.safeParse(params);
    if (data === undefined) return [];
    const { threadId, item } = data;
    const isOurs = threadId === this.#threadId;
    if (item.type === 'agentMessage' || item.type === 'reasoning')
      return isOver && isOurs ? this.#text.whole(item) : [];
    const callId = isOurs ? item.id : `${threadId}:${item.id}`;
    const call = callOf(item, callId);
    if (call === undefined) return [];
    if (!isOver) this.#open.set(callId, { callId, threadId, item });
    else this.#open.delete(callId);
    return [{ kind: 'tool_requested', ...call }, ...(isOver ? endOf(item, callId) : [])];
  }

  #readDelta(what: 'text' | 'reasoning', params: unknown): Facts {
    const { data } = textDelta.safeParse(params);
    return data?.threadId === this.#threadId && data !== undefined
      ? this.#text.piece(what, data.itemId, data.delta)
      : [];
  }

  #readPart(params: unknown): Facts {
    const { data } = summaryPart.safeParse(params);
    return data?.threadId === this.#threadId && data !== undefined ? this.#text.nextPart(data.itemId) : [];
  }

  /** What its model types into a command that runs. Nothing was typed where it only waits. */
  #readTyped(params: unknown): Facts {
    const { data } = terminalNews.safeParse(params);
    if (data === undefined || data.stdin === '') return [];
    const { itemId: command, stdin: typed } = data;
    return this.#done(
      'write_stdin',
      { command, typed },
      'It was typed. What came of it is in the output of the command.',
    );
  }

  #readPlan(params: unknown): Facts {
    const { data } = planNews.safeParse(params);
    return data === undefined ? [] : this.#done('update_plan', { ...data }, 'The plan was noted.');
  }

  /** A call that is told when it is over, and has no id of its own. */
  #done(name: string, input: unknown, output: string): Facts {
    this.#counted += 1;
    const callId = `${name}:${this.#counted}`;
    return [
      { kind: 'tool_requested', callId, name, input },
      { kind: 'tool_ended', callId, outcome: 'completed', output },
    ];
  }

  #readResolved(params: unknown): Facts {
    const { data } = resolved.safeParse(params);
    return data === undefined ? [] : this.#asks.resolved(data.requestId);
  }
}

/** Large, and told in other ways. */
const UNREAD: readonly string[] = ['turn/diff/updated', 'thread/started'];

function reply(text: string): CliFact {
  return { kind: 'reply', text };
}

function failed(failure: CliFailure): Facts {
  return [{ kind: 'finished', finish: { failure, goesOn: 'no' } }];
}
