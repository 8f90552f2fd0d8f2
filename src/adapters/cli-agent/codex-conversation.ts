/** One turn of Codex, as its stream tells it. */
import type { RunUsage } from '../../machines/run/run-output.ts';
import {
  errorEvent,
  errorItem,
  itemEvent,
  textItem,
  threadStarted,
  turnCompleted,
  turnFailed,
} from './codex-events.ts';
import type { CodexItem } from './codex-events.ts';
import { toolFacts } from './codex-tools.ts';
import type { CliConversation, CliFact, CliFailure, CliReading, CliTurn } from './dialect.ts';
import { messageIn } from './json-lines.ts';

type Reader = (message: unknown) => readonly CliFact[] | undefined;

/** What an item has told so far: items are told whole each time. */
interface ToldText {
  readonly block: number;
  readonly text: string;
}

export class CodexConversation implements CliConversation {
  readonly args: readonly string[];
  readonly opening: string;
  readonly keepsInputOpen = false;
  readonly #turn: CliTurn;
  readonly #told = new Map<string, ToldText>();
  #complaint: string | undefined;

  readonly #readers: Readonly<Record<string, Reader>> = {
    'thread.started': (message) => this.#readThread(message),
    'turn.started': () => [],
    'turn.completed': (message) => this.#readCompleted(message),
    'turn.failed': (message) => this.#readFailed(message),
    'item.started': (message) => this.#readItem(message, 'started'),
    'item.updated': (message) => this.#readItem(message, 'updated'),
    'item.completed': (message) => this.#readItem(message, 'completed'),
    error: (message) => this.#readError(message),
  };

  constructor(turn: CliTurn, args: readonly string[]) {
    this.#turn = turn;
    this.args = args;
    const { instructions, prompt, resumedSessionId } = turn;
    // A session that goes on has been told.
    this.opening =
      instructions === undefined || resumedSessionId !== undefined
        ? prompt
        : `<instructions>\n${instructions}\n</instructions>\n\n${prompt}`;
  }

  read(line: string): CliReading {
    const message = messageIn(line);
    if (message === undefined) return 'noise';
    const reader = Object.hasOwn(this.#readers, message.type) ? this.#readers[message.type] : undefined;
    return reader === undefined ? 'unknown' : (reader(message) ?? 'noise');
  }

  lastComplaint(): CliFailure | undefined {
    return this.#complaint === undefined ? undefined : { message: this.#complaint };
  }

  /**
   * Asked to go on with a session that it does not find, it may begin another without a word: that one has not seen the
   * conversation.
   */
  #readThread(given: unknown): readonly CliFact[] | undefined {
    const { data } = threadStarted.safeParse(given);
    if (data === undefined) return undefined;
    const { resumedSessionId } = this.#turn;
    if (resumedSessionId === undefined || data.thread_id === resumedSessionId)
      return [{ kind: 'session', sessionId: data.thread_id }];
    return [{ kind: 'session_gone', because: `it began another session (${data.thread_id}) instead` }];
  }

  #readCompleted(given: unknown): readonly CliFact[] | undefined {
    const { data } = turnCompleted.safeParse(given);
    return data === undefined
      ? undefined
      : [{ kind: 'finished', finish: { usage: usageOf(data.usage), modelSteps: 1, goesOn: 'no' } }];
  }

  #readFailed(given: unknown): readonly CliFact[] {
    const message =
      turnFailed.safeParse(given).data?.error.message ?? this.#complaint ?? 'it told of a failure without saying which';
    return [{ kind: 'finished', finish: { failure: { message }, goesOn: 'no' } }];
  }

  /** It may be about a connection that is tried again: only the end of the turn tells whether it was the end. */
  #readError(given: unknown): readonly CliFact[] | undefined {
    const { data } = errorEvent.safeParse(given);
    if (data === undefined) return undefined;
    this.#complaint = data.message;
    return [];
  }

  #readItem(given: unknown, phase: 'started' | 'updated' | 'completed'): readonly CliFact[] | undefined {
    const { data } = itemEvent.safeParse(given);
    if (data === undefined) return undefined;
    const { item } = data;
    if (item.type === 'agent_message') return this.#said('text', item);
    if (item.type === 'reasoning') return this.#said('reasoning', item);
    if (item.type === 'error') this.#complaint = errorItem.safeParse(item).data?.message ?? this.#complaint;
    return toolFacts(item, phase);
  }

  #said(what: 'text' | 'reasoning', item: CodexItem): readonly CliFact[] {
    const text = textItem.safeParse(item).data?.text ?? '';
    const told = this.#told.get(item.id) ?? { block: this.#told.size + 1, text: '' };
    // What was told otherwise cannot be taken back.
    if (!text.startsWith(told.text)) return [];
    this.#told.set(item.id, { ...told, text });
    return [{ kind: 'said', what, block: told.block, text: text.slice(told.text.length) }];
  }
}

function usageOf(
  usage: NonNullable<ReturnType<typeof turnCompleted.parse>['usage']> | undefined,
): RunUsage | undefined {
  if (usage === undefined) return undefined;
  const { input_tokens, output_tokens, cached_input_tokens, cache_write_input_tokens, reasoning_output_tokens } = usage;
  return {
    ...(input_tokens === undefined ? {} : { inputTokens: input_tokens }),
    ...(output_tokens === undefined ? {} : { outputTokens: output_tokens }),
    ...(cached_input_tokens === undefined ? {} : { cachedInputTokens: cached_input_tokens }),
    ...(cache_write_input_tokens === undefined ? {} : { cacheWriteTokens: cache_write_input_tokens }),
    ...(reasoning_output_tokens === undefined ? {} : { reasoningTokens: reasoning_output_tokens }),
  };
}
