/** A session's log as messages of the AI SDK (`UIMessage` of `ai`): what a chat begins with when its page is opened. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { TurnParts } from './turn-parts.ts';
import type { TurnPart } from './turn-part.ts';
import { errorTextOf } from './ui-chunks.ts';

export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: UiPart[];
}

type UiPart =
  | { readonly type: 'step-start' }
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly state: 'done' }
  | UiTool;

interface UiTool {
  readonly type: 'dynamic-tool';
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
  providerExecuted: boolean;
  state:
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  approval?: {
    readonly id: string;
    readonly approved?: boolean;
    readonly reason?: string;
    readonly requestReason?: string;
  };
  output?: unknown;
  errorText?: string;
}

/** The message that answers the one with this event id. */
export function replyIdOf(eventId: string): string {
  return `reply-${eventId}`;
}

/** What agents say before anyone has said anything. */
const OF_ITS_OWN = 'reply-first';

export class UiMessages {
  readonly #parts = new TurnParts();
  readonly #messages: UiMessage[] = [];
  readonly #unread = new Map<string, string>();
  readonly #tools = new Map<string, UiTool>();
  readonly #shown: (part: TurnPart) => TurnPart;
  #reply: UiMessage = { id: OF_ITS_OWN, role: 'assistant', parts: [] };

  constructor(shown: (part: TurnPart) => TurnPart) {
    this.#shown = shown;
  }

  add(event: SessionEvent): void {
    if (event.type === 'user.message') this.#unread.set(event.id, event.data.text);
    for (const part of this.#parts.of({ kind: 'event', value: event })) this.#take(this.#shown(part));
  }

  /** Those that are not read yet come last. */
  all(): readonly UiMessage[] {
    const open = this.#reply.parts.length === 0 ? [] : [this.#reply];
    return [...this.#messages, ...open, ...[...this.#unread].map(([id, text]) => userMessage(id, text))];
  }

  #take(part: TurnPart): void {
    // Whatever else there is says nothing here.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (part.type) {
      case 'read':
        return this.#begin(part.eventIds);
      case 'step-started':
        return void this.#reply.parts.push({ type: 'step-start' });
      case 'speech':
        return void this.#reply.parts.push({ type: part.kind, text: part.text, state: 'done' });
      case 'call':
        return this.#call(part);
      case 'permission-asked':
      case 'permission-given':
      case 'result':
        return this.#change(part);
      default:
        return undefined;
    }
  }

  /** What is read by the agent is answered by what follows. */
  #begin(eventIds: readonly string[]): void {
    const read = eventIds.flatMap((id) => {
      const text = this.#unread.get(id);
      this.#unread.delete(id);
      return text === undefined ? [] : [userMessage(id, text)];
    });
    const last = read.at(-1);
    if (last === undefined) return;
    if (this.#reply.parts.length > 0) this.#messages.push(this.#reply);
    this.#messages.push(...read);
    this.#reply = { id: replyIdOf(last.id), role: 'assistant', parts: [] };
  }

  #call({ callId, name, input, runs }: Extract<TurnPart, { readonly type: 'call' }>): void {
    const providerExecuted = runs === 'agent';
    const known = this.#tools.get(callId);
    if (known !== undefined) return void (known.providerExecuted = providerExecuted);
    const tool: UiTool = {
      ...{ type: 'dynamic-tool', toolName: name, toolCallId: callId, input, providerExecuted },
      state: 'input-available',
    };
    this.#tools.set(callId, tool);
    this.#reply.parts.push(tool);
  }

  #change(part: Extract<TurnPart, { readonly type: 'permission-asked' | 'permission-given' | 'result' }>): void {
    const tool = this.#tools.get(part.callId);
    if (tool === undefined) return;
    if (part.type === 'permission-asked') {
      tool.state = 'approval-requested';
      tool.approval = { id: part.requestId, requestReason: part.because };
    } else if (part.type === 'permission-given') {
      const { requestId, allowed, note } = part;
      tool.state = 'approval-responded';
      tool.approval = { id: requestId, approved: allowed, ...(note === undefined ? {} : { reason: note }) };
    } else if (part.outcome === 'completed') {
      tool.state = 'output-available';
      tool.output = part.output ?? null;
    } else if (part.outcome === 'denied' && tool.approval !== undefined) tool.state = 'output-denied';
    else {
      tool.state = 'output-error';
      tool.errorText = errorTextOf(part.outcome, part.output);
    }
  }
}

function userMessage(id: string, text: string): UiMessage {
  return { id, role: 'user', parts: [{ type: 'text', text, state: 'done' }] };
}
