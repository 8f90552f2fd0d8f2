/**
 * The parts of a conversation as chunks of the AI SDK's UI message stream (`UIMessageChunk` of `ai`), for one message of
 * the assistant.
 */
import type { TurnPart } from './turn-part.ts';
import { waitingIn } from './waiting.ts';

export type UiChunk =
  | { readonly type: 'start'; readonly messageId?: string }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: `${'text' | 'reasoning'}-${'start' | 'end'}`; readonly id: string }
  | { readonly type: `${'text' | 'reasoning'}-delta`; readonly id: string; readonly delta: string }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly dynamic: true;
      readonly providerExecuted: boolean;
    }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly reason: string;
    }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | { readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: unknown }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'data-progress'; readonly id: string; readonly data: unknown; readonly transient: true }
  | { readonly type: 'data-retrying' | 'data-waiting'; readonly data: unknown; readonly transient: true }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'finish'; readonly finishReason: 'stop' | 'tool-calls' | 'error' };

/** What the client holds for answered, and for allowed. */
export type Answered = ReadonlyMap<string, boolean | undefined>;

export class UiChunks {
  readonly #calls = new Set<string>();
  readonly #asked = new Map<string, string>();
  readonly #isContinued: boolean;
  readonly #answered: Answered | undefined;

  /**
   * @param isContinued the client has the beginning of the message, with calls that are not told here
   * @param answered is not told where it is so: the `useChat` of AI SDK 6 knows its own answers only
   */
  constructor({ isContinued, answered }: { readonly isContinued: boolean; readonly answered?: Answered | undefined }) {
    this.#isContinued = isContinued;
    this.#answered = answered;
  }

  of(part: TurnPart): readonly UiChunk[] {
    // Whatever else there is says nothing here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (part.type) {
      case 'read':
        return [];
      case 'retrying':
        return [{ type: 'data-retrying', data: { because: part.because, retryAt: part.retryAt }, transient: true }];
      case 'waiting':
        return [{ type: 'data-waiting', data: waitingIn(part), transient: true }];
      case 'step-started':
        return [{ type: 'start-step' }];
      case 'step-ended':
        return [{ type: 'finish-step' }];
      case 'step-taken-back':
        return [{ type: 'reset-step' }];
      case 'speech-started':
        return [{ type: `${part.kind}-start`, id: part.id }];
      case 'speech':
        return [{ type: `${part.kind}-delta`, id: part.id, delta: part.text }];
      case 'speech-ended':
        return [{ type: `${part.kind}-end`, id: part.id }];
      default:
        return this.#ofCall(part);
    }
  }

  #ofCall(part: Extract<TurnPart, { readonly callId: string }>): readonly UiChunk[] {
    const { callId: toolCallId } = part;
    if (part.type === 'call') {
      this.#calls.add(toolCallId);
      const { name: toolName, input, runs } = part;
      const providerExecuted = runs === 'agent';
      return [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, providerExecuted }];
    }
    // What belongs to a message before this one cannot be told in it.
    if (!this.#isContinued && !this.#calls.has(toolCallId)) return [];
    switch (part.type) {
      case 'permission-asked':
        this.#asked.set(part.requestId, toolCallId);
        return [{ type: 'tool-approval-request', approvalId: part.requestId, toolCallId, reason: part.because }];
      case 'permission-given': {
        const { requestId: approvalId, allowed: approved, note } = part;
        this.#asked.set(approvalId, toolCallId);
        if (this.#answered?.get(approvalId) === approved) return [];
        return [
          { type: 'tool-approval-response', approvalId, approved, ...(note === undefined ? {} : { reason: note }) },
        ];
      }
      case 'result':
        return [this.#resultOf(part)];
      case 'progress':
        return [{ type: 'data-progress', id: toolCallId, data: { text: part.message }, transient: true }];
    }
  }

  #resultOf({ callId: toolCallId, outcome, output }: Extract<TurnPart, { readonly type: 'result' }>): UiChunk {
    if (outcome === 'completed') return { type: 'tool-output-available', toolCallId, output: output ?? null };
    // Only what was asked about can be shown as denied; a rule that forbids is an error of the call.
    const wasAsked = [...this.#asked.values()].includes(toolCallId);
    if (outcome === 'denied' && wasAsked) return { type: 'tool-output-denied', toolCallId };
    return { type: 'tool-output-error', toolCallId, errorText: errorTextOf(outcome, output) };
  }
}

export function errorTextOf(outcome: string, output: unknown): string {
  return typeof output === 'string' && output !== '' ? output : `${outcome}: ${JSON.stringify(output ?? null)}`;
}
