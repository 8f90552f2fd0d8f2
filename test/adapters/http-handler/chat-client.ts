/** The AI SDK's own chat, as `useChat` has it, over a handler without a server. */
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import type { ChatState, ChatStatus, UIMessage } from 'ai';
import { AT } from './served.ts';
import type { Served } from './served.ts';

/** What `useChat` keeps for its page. */
class KeptState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined;
  messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

class Chat extends AbstractChat<UIMessage> {}

export interface ChatClient {
  readonly chat: Chat;
  /** What the page asked for, in order. */
  readonly asked: string[];
  /** What `onData` heard. */
  readonly data: { readonly type: string; readonly data: unknown }[];
}

/** @param wakes whether a worker takes what is sent, here: at once. Default true */
export async function openChat(
  served: Served,
  sessionId: string,
  { wakes = true }: { readonly wakes?: boolean } = {},
): Promise<ChatClient> {
  const asked: string[] = [];
  const data: ChatClient['data'] = [];
  const fetchHere: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    const response = await served.handler(request);
    if (wakes && request.method === 'POST' && response.ok) void served.setup.runtime.trigger(sessionId);
    return response;
  };
  const messages = (await (await served.get(`/chat/${sessionId}/messages`)).json()) as UIMessage[];
  const chat = new Chat({
    id: sessionId,
    state: new KeptState(messages),
    transport: new DefaultChatTransport({ api: `${AT}/chat`, headers: { 'x-subject': 'ada' }, fetch: fetchHere }),
    onData: (part) => void data.push(part),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return { chat, asked, data };
}

/** Of a message, what people see: its texts, and its calls with where they stand. */
export function shownOf({ role, parts }: UIMessage): string {
  const shown = parts.flatMap((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'reasoning') return `(${part.text})`;
    if (part.type !== 'dynamic-tool') return [];
    const output = part.state === 'output-available' ? `=${JSON.stringify(part.output)}` : '';
    return `[${part.toolName} ${part.state}${output}]`;
  });
  return `${role}: ${shown.join(' ')}`;
}

export function historyOf({ chat }: ChatClient): readonly string[] {
  return chat.messages.map(shownOf);
}
