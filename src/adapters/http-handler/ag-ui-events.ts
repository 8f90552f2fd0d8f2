/**
 * The parts of a conversation as events of AG-UI, for one run. AG-UI takes nothing back: where words were said in vain,
 * the client is told all messages as they are.
 */
import type { SpeechKind, TurnPart } from './turn-part.ts';
import { waitingIn } from './waiting.ts';
import { errorTextOf } from './ui-chunks.ts';

export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly [field: string]: unknown;
}

export interface AgUiEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

const EVENTS = {
  text: { start: 'TEXT_MESSAGE_START', content: 'TEXT_MESSAGE_CONTENT', end: 'TEXT_MESSAGE_END', role: 'assistant' },
  reasoning: {
    start: 'REASONING_MESSAGE_START',
    content: 'REASONING_MESSAGE_CONTENT',
    end: 'REASONING_MESSAGE_END',
    role: 'reasoning',
  },
} as const;

type Speech = Extract<TurnPart, { readonly kind: SpeechKind }>;

export class AgUiEvents {
  /** As the client has them. */
  #messages: AgUiMessage[];
  /** How many there were when the step began. */
  #before: number;
  #open: { readonly id: string; readonly kind: SpeechKind; text: string } | undefined;
  readonly #calls = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(messages: readonly AgUiMessage[]) {
    this.#messages = [...messages];
    this.#before = messages.length;
  }

  /** Calls that the client runs, and has not answered. */
  readonly ofClient = new Set<string>();

  of(part: TurnPart): readonly AgUiEvent[] {
    // Whatever else there is says nothing here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (part.type) {
      case 'step-started':
        this.#before = this.#messages.length;
        return [];
      case 'step-taken-back':
        return this.#takenBack();
      case 'speech-started':
      case 'speech':
      case 'speech-ended':
        return this.#ofSpeech(part);
      case 'call':
        return this.#ofCall(part);
      case 'result':
        return this.#ofResult(part);
      case 'retrying':
        return [{ type: 'CUSTOM', name: 'retrying', value: { because: part.because, retryAt: part.retryAt } }];
      case 'waiting':
        return [{ type: 'CUSTOM', name: 'waiting', value: waitingIn(part) }];
      default:
        return [];
    }
  }

  /** Ends what is open: no run ends within a message. */
  end(): readonly AgUiEvent[] {
    const open = this.#open;
    return open === undefined ? [] : this.#ofSpeech({ type: 'speech-ended', kind: open.kind, id: open.id });
  }

  #takenBack(): readonly AgUiEvent[] {
    const ended = this.end();
    this.#messages = this.#messages.slice(0, this.#before);
    for (const id of this.#calls) if (!this.#messages.some((message) => message.id === id)) this.#calls.delete(id);
    return [...ended, { type: 'MESSAGES_SNAPSHOT', messages: this.#messages }];
  }

  #ofSpeech(part: Speech): readonly AgUiEvent[] {
    const { start, content, end, role } = EVENTS[part.kind];
    const { id: messageId } = part;
    const isReasoning = part.kind === 'reasoning';
    if (part.type === 'speech-started') {
      this.#open = { id: messageId, kind: part.kind, text: '' };
      return [...(isReasoning ? [{ type: 'REASONING_START', messageId }] : []), { type: start, messageId, role }];
    }
    if (part.type === 'speech') {
      if (this.#open !== undefined) this.#open.text += part.text;
      return [{ type: content, messageId, delta: part.text }];
    }
    this.#messages.push({ id: messageId, role, content: this.#open?.text ?? '' });
    this.#open = undefined;
    return [{ type: end, messageId }, ...(isReasoning ? [{ type: 'REASONING_END', messageId }] : [])];
  }

  #ofCall({ callId, name, input, runs }: Extract<TurnPart, { readonly type: 'call' }>): readonly AgUiEvent[] {
    if (runs === 'client') this.ofClient.add(callId);
    if (this.#calls.has(callId)) return [];
    this.#calls.add(callId);
    const text = JSON.stringify(input ?? {});
    const toolCalls = [{ id: callId, type: 'function', function: { name, arguments: text } }];
    this.#messages.push({ id: callId, role: 'assistant', toolCalls });
    return [
      { type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: name, parentMessageId: callId },
      { type: 'TOOL_CALL_ARGS', toolCallId: callId, delta: text },
      { type: 'TOOL_CALL_END', toolCallId: callId },
    ];
  }

  #ofResult({ callId, outcome, output }: Extract<TurnPart, { readonly type: 'result' }>): readonly AgUiEvent[] {
    this.ofClient.delete(callId);
    if (this.#answered.has(callId)) return [];
    this.#answered.add(callId);
    const content =
      outcome === 'completed'
        ? typeof output === 'string'
          ? output
          : JSON.stringify(output ?? null)
        : errorTextOf(outcome, output);
    const messageId = `result-${callId}`;
    this.#messages.push({ id: messageId, role: 'tool', toolCallId: callId, content });
    return [{ type: 'TOOL_CALL_RESULT', messageId, toolCallId: callId, content, role: 'tool' }];
  }
}
