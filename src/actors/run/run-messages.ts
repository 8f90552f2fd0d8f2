/** The conversation of a run, whichever way it was given. */
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { AgentRunParams } from './agent-runtime.ts';

export function messagesOf({ messages, prompt }: AgentRunParams): readonly ProviderMessage[] {
  return messages ?? [{ role: 'user', content: [{ type: 'text', text: prompt }] }];
}
