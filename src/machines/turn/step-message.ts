/** The message that a model is saying, put together from what it streams while it does. */
import type { AgentRunEvent } from '../run/run-output.ts';
import type { AssistantMessage, ToolCallPart } from './provider-message.ts';

type OpenPart = { readonly type: 'text' | 'reasoning'; text: string } | ToolCallPart;

/** For one run. Ids, names and inputs of calls are those of the backend, as they came. */
export class StreamStepMessageBuilder {
  #parts: OpenPart[] = [];
  readonly #callIds = new Set<string>();

  /** Takes the next event of the run. */
  ingest(event: AgentRunEvent): void {
    if (event.stream === 'assistant') this.#say(event.data);
    else if (event.stream === 'tool' && event.data.phase === 'requested') this.#call(event.data);
    else if (event.stream === 'attempt' && event.data.phase === 'started') this.#forget();
  }

  /** What was said so far, in the order in which it came. The builder can go on afterwards. */
  get(): AssistantMessage {
    return { role: 'assistant', content: this.#parts.map((part) => ({ ...part })) };
  }

  #say({ kind, text }: { readonly kind: 'text' | 'reasoning'; readonly text: string }): void {
    if (text === '') return;
    const last = this.#parts.at(-1);
    if (last !== undefined && last.type !== 'tool_call' && last.type === kind) last.text += text;
    else this.#parts.push({ type: kind, text });
  }

  /** What an attempt said that failed is said anew by the next. */
  #forget(): void {
    this.#parts = [];
    this.#callIds.clear();
  }

  /** A call that is announced again is the same one. */
  #call({ callId, name, input }: Omit<ToolCallPart, 'type'>): void {
    if (this.#callIds.has(callId)) return;
    this.#callIds.add(callId);
    this.#parts.push({ type: 'tool_call', callId, name, input });
  }
}
