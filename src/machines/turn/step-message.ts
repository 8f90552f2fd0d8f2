/** The message that a model is saying, put together from what it streams while it does. */
import { RuntimeError } from '../errors.ts';
import type { AgentRunEvent } from '../run/run-output.ts';
import type { AssistantMessage, ToolCallPart } from './provider-message.ts';

type OpenPart = { readonly type: 'text' | 'reasoning'; text: string } | ToolCallPart;

/** For one run. Ids, names and inputs of calls are those of the backend, as they came. */
export class StreamStepMessageBuilder {
  #parts: OpenPart[] = [];
  readonly #callIds = new Set<string>();

  /**
   * Takes the next event of the run. @throws RuntimeError RUN_EVENT_INVALID for what is none, such as a part of a
   * stream of the AI SDK
   */
  ingest(event: AgentRunEvent): void {
    checkEvent(event);
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

const WANTED = 'expected an event of a run, such as { stream: "assistant", data: { kind: "text", text } }';

/** What is passed over must be known to be of no matter: an event of another form would be lost without a word. */
function checkEvent(event: unknown): void {
  const stream: unknown = typeof event === 'object' && event !== null && 'stream' in event ? event.stream : undefined;
  if (typeof stream === 'string') return;
  const received =
    typeof event === 'object' && event !== null
      ? `an object with ${Object.keys(event).slice(0, 5).join(', ') || 'nothing in it'}`
      : typeof event;
  throw new RuntimeError('RUN_EVENT_INVALID', `${WANTED}, received ${received.slice(0, 200)}`, {
    category: 'validation',
    hint: 'Give it what onEvent of a run is given. Parts of another stream have to be written as such events first.',
  });
}
