/**
 * One turn of Claude Code, as its stream tells it. Requests of the program (may this tool run?) and ours go over the
 * same two pipes.
 */
import type { RunPermissionAnswer } from '../../actors/run/agent-runtime.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { isNestedTooDeeply } from '../../machines/vault/secret-redaction.ts';
import { claudeFailure } from './claude-failures.ts';
import {
  assistantMessage,
  blocksOf,
  controlCancelRequest,
  controlRequest,
  controlResponse,
  permissionRequest,
  rateLimitEvent,
  resultMessage,
  streamEvent,
  systemMessage,
  toolProgress,
  userMessage,
} from './claude-messages.ts';
import type { ClaudeBlock, ClaudeResult } from './claude-messages.ts';
import { ClaudeText } from './claude-text.ts';
import { claudeUsage } from './claude-usage.ts';
import type { CliConversation, CliFact, CliFailure, CliFinish, CliReading, CliTurn } from './dialect.ts';
import { jsonLine, messageIn } from './json-lines.ts';
import { claudeToolMeaning } from './tool-meaning.ts';
import { toolOutputText } from './tool-output.ts';

/** What the program made up itself, such as the text of an error. */
const SYNTHETIC_MODEL = '<synthetic>';
/**
 * The program would run `/commands` and read the files of `@mentions` without asking. No user typed this text there,
 * and it may hold what a tool has found somewhere: it is to be delivered as written.
 */
const COMMAND_OR_MENTION = /@|^\s*\//;
const MAX_SHOWN_ID_CHARACTERS = 100;
const TOO_DEEP = 'Its input is nested too deeply to be judged.';
const NOBODY_TO_ANSWER =
  'No person is there to answer questions while you work. Put them into your final answer instead.';

export interface ClaudeConversationOptions {
  readonly args: readonly string[];
  readonly newId: () => string;
}

type Reader = (message: unknown) => readonly CliFact[] | undefined;

export class ClaudeConversation implements CliConversation {
  readonly args: readonly string[];
  readonly opening: string;
  readonly keepsInputOpen = true;
  readonly #turn: CliTurn;
  readonly #newId: () => string;
  readonly #openingId: string;
  readonly #text = new ClaudeText();
  readonly #results: ClaudeResult[] = [];
  /** Messages of the user that no result has answered, by their ids. */
  readonly #unanswered = new Set<string>();
  /** What the program asked, by its ids: an answer gives the input back. */
  readonly #asked = new Map<string, Readonly<Record<string, unknown>>>();
  #errorCode: string | undefined;
  #errorText: string | undefined;
  #retryAtMs: number | undefined;

  readonly #readers: Readonly<Record<string, Reader>> = {
    system: (message) => this.#readSystem(message),
    stream_event: (message) => this.#readStreamEvent(message),
    assistant: (message) => this.#readAssistant(message),
    user: (message) => this.#readUser(message),
    result: (message) => this.#readResult(message),
    control_request: (message) => this.#readControlRequest(message),
    control_cancel_request: (message) => this.#readCancel(message),
    control_response: (message) => this.#readControlResponse(message),
    rate_limit_event: (message) => this.#readRateLimit(message),
    tool_progress: (message) => this.#readToolProgress(message),
    // What it has queued, begun and done of our messages: its results say it too.
    command_lifecycle: () => [],
  };

  constructor(turn: CliTurn, { args, newId }: ClaudeConversationOptions) {
    this.#turn = turn;
    this.#newId = newId;
    this.args = args;
    this.#openingId = newId();
    const { instructions, prompt } = turn;
    const initialize = {
      subtype: 'initialize',
      ...(instructions === undefined ? {} : { appendSystemPrompt: instructions }),
    };
    this.opening =
      jsonLine({ type: 'control_request', request_id: this.#openingId, request: initialize }) +
      this.furtherMessage(prompt);
  }

  read(line: string): CliReading {
    const message = messageIn(line);
    if (message === undefined) return 'noise';
    const reader = Object.hasOwn(this.#readers, message.type) ? this.#readers[message.type] : undefined;
    return reader === undefined ? 'unknown' : (reader(message) ?? 'noise');
  }

  interruption(): string {
    return jsonLine({ type: 'control_request', request_id: this.#newId(), request: { subtype: 'interrupt' } });
  }

  furtherMessage(text: string): string {
    const uuid = this.#newId();
    this.#unanswered.add(uuid);
    const composed = COMMAND_OR_MENTION.test(text) ? { client_composed: true } : {};
    return jsonLine({
      type: 'user',
      uuid,
      session_id: '',
      parent_tool_use_id: null,
      ...composed,
      message: { role: 'user', content: [{ type: 'text', text }] },
    });
  }

  answer(askId: string, answer: RunPermissionAnswer): string {
    const input = this.#asked.get(askId) ?? {};
    this.#asked.delete(askId);
    const response =
      answer.decision === 'allow'
        ? { behavior: 'allow', updatedInput: input }
        : { behavior: 'deny', message: answer.message };
    return jsonLine({ type: 'control_response', response: { subtype: 'success', request_id: askId, response } });
  }

  lastComplaint(): CliFailure | undefined {
    if (this.#errorText === undefined) return undefined;
    return { message: this.#errorText, code: this.#errorCode, retryAtMs: this.#retryAtMs };
  }

  #readSystem(given: unknown): readonly CliFact[] | undefined {
    const { data } = systemMessage.safeParse(given);
    if (data === undefined) return undefined;
    if (data.subtype === 'init')
      return data.session_id === undefined ? [] : [{ kind: 'session', sessionId: data.session_id }];
    if (data.subtype === 'permission_denied' && data.tool_use_id !== undefined)
      return [{ kind: 'tool_refused', callId: data.tool_use_id }];
    if (data.subtype === 'status' && data.status === 'requesting') return [{ kind: 'step_begun' }];
    if (data.subtype === 'model_refusal_no_fallback') this.#errorText = data.content;
    return [];
  }

  #readStreamEvent(given: unknown): readonly CliFact[] | undefined {
    const { data } = streamEvent.safeParse(given);
    if (data === undefined) return undefined;
    return data.parent_tool_use_id === undefined ? this.#text.streamed(data.event) : [];
  }

  #readAssistant(given: unknown): readonly CliFact[] | undefined {
    const { data } = assistantMessage.safeParse(given);
    if (data === undefined) return undefined;
    const { message, error, parent_tool_use_id } = data;
    const blocks = blocksOf(message.content);
    const tools = blocks.flatMap((block) => requestOf(block));
    // What a subagent of the program says is not said to us; what it does is done all the same, by a call that has begun.
    if (parent_tool_use_id !== undefined) return [{ kind: 'tool_started', callId: parent_tool_use_id }, ...tools];
    if (error === undefined && message.model !== SYNTHETIC_MODEL)
      return blocks.flatMap((block) => this.#factsOf(block));
    const words = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    this.#errorCode = error ?? this.#errorCode;
    this.#errorText = words === '' ? (error ?? this.#errorText) : words;
    return tools;
  }

  #factsOf(block: ClaudeBlock): readonly CliFact[] {
    if (block.type === 'text') return this.#text.whole('text', block.text);
    if (block.type === 'thinking') return this.#text.whole('reasoning', block.thinking);
    return requestOf(block);
  }

  #readUser(given: unknown): readonly CliFact[] | undefined {
    const { data } = userMessage.safeParse(given);
    return data === undefined ? undefined : blocksOf(data.message.content).flatMap((block) => endOf(block));
  }

  #readResult(given: unknown): readonly CliFact[] {
    const parsed = resultMessage.safeParse(given);
    if (!parsed.success)
      return [
        {
          kind: 'finished',
          finish: {
            failure: { kind: 'server_error', message: 'its result is none: it names no subtype' },
            goesOn: 'no',
          },
        },
      ];
    const result = parsed.data;
    const failure = claudeFailure(result, {
      code: this.#errorCode,
      message: this.#errorText,
      retryAtMs: this.#retryAtMs,
    });
    this.#results.push(result);
    this.#settleMessages(result);
    const usage = claudeUsage(this.#results, { isResumed: this.#turn.resumedSessionId !== undefined });
    const modelSteps = this.#results.reduce((steps, { num_turns = 0 }) => steps + num_turns, 0);
    return [
      ...(result.session_id === undefined ? [] : [{ kind: 'session', sessionId: result.session_id } as const]),
      {
        kind: 'finished',
        finish: {
          failure,
          usage,
          modelSteps,
          text: result.result,
          goesOn: failure === undefined ? this.#goesOn(result) : 'no',
        },
      },
    ];
  }

  #goesOn({ user_message_uuids }: ClaudeResult): CliFinish['goesOn'] {
    if (this.#unanswered.size === 0) return 'no';
    return user_message_uuids === undefined ? 'perhaps' : 'surely';
  }

  /** An older program does not say which messages it has answered: then only the first surely is. */
  #settleMessages({ user_message_uuids }: ClaudeResult): void {
    const [oldest] = this.#unanswered;
    for (const uuid of user_message_uuids ?? (oldest === undefined ? [] : [oldest])) this.#unanswered.delete(uuid);
  }

  #readControlRequest(given: unknown): readonly CliFact[] | undefined {
    const { data } = controlRequest.safeParse(given);
    if (data === undefined) return undefined;
    const { request_id: askId, request } = data;
    const parsed = permissionRequest.safeParse(request);
    if (request.subtype !== 'can_use_tool' || !parsed.success)
      return [{ kind: 'reply', text: refusal(askId, `${request.subtype} is not supported here`) }];
    // An answer could be taken for that to the other question.
    if (this.#asked.has(askId))
      return [
        {
          kind: 'reply',
          text: refusal(
            askId,
            `a question with the id ${beginningOf(askId, MAX_SHOWN_ID_CHARACTERS)} is not answered yet`,
          ),
        },
      ];
    const { tool_name: name, tool_use_id: callId = askId, input } = parsed.data;
    this.#asked.set(askId, input);
    const denial = name === 'AskUserQuestion' ? NOBODY_TO_ANSWER : isNestedTooDeeply(input) ? TOO_DEEP : undefined;
    if (denial !== undefined)
      return [
        { kind: 'tool_requested', callId, name, input },
        { kind: 'tool_refused', callId },
        { kind: 'reply', text: this.answer(askId, { decision: 'deny', message: denial }) },
      ];
    return [{ kind: 'asked', askId, request: { callId, name, input, means: claudeToolMeaning(name, input) } }];
  }

  #readCancel(given: unknown): readonly CliFact[] | undefined {
    const { data } = controlCancelRequest.safeParse(given);
    if (data === undefined) return undefined;
    this.#asked.delete(data.request_id);
    return [{ kind: 'ask_withdrawn', askId: data.request_id }];
  }

  /** Only the refusal to begin matters. */
  #readControlResponse(given: unknown): readonly CliFact[] | undefined {
    const { data } = controlResponse.safeParse(given);
    if (data === undefined) return undefined;
    const { subtype, request_id, error } = data.response;
    if (subtype !== 'error' || request_id !== this.#openingId) return [];
    return [
      {
        kind: 'finished',
        finish: { failure: { message: `it refused to begin: ${error ?? 'it did not say why'}` }, goesOn: 'no' },
      },
    ];
  }

  #readRateLimit(given: unknown): readonly CliFact[] | undefined {
    const { data } = rateLimitEvent.safeParse(given);
    if (data === undefined) return undefined;
    const { status, resetsAt } = data.rate_limit_info;
    this.#retryAtMs = status === 'rejected' && resetsAt !== undefined ? resetsAt * 1_000 : undefined;
    return [];
  }

  #readToolProgress(given: unknown): readonly CliFact[] | undefined {
    const { data } = toolProgress.safeParse(given);
    return data === undefined ? undefined : [{ kind: 'tool_started', callId: data.tool_use_id }];
  }
}

function requestOf(block: ClaudeBlock): readonly CliFact[] {
  return block.type === 'tool_use'
    ? [{ kind: 'tool_requested', callId: block.id, name: block.name, input: block.input ?? {} }]
    : [];
}

function endOf(block: ClaudeBlock): readonly CliFact[] {
  if (block.type !== 'tool_result') return [];
  return [
    {
      kind: 'tool_ended',
      callId: block.tool_use_id,
      outcome: block.is_error === true ? 'failed' : 'completed',
      output: toolOutputText(block.content),
    },
  ];
}

/** The asking program must not wait for ever. */
function refusal(requestId: string, error: string): string {
  return jsonLine({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error } });
}
