/**
 * Events of a stream that the installed package does not know: providers add kinds of events, and say that clients
 * should pass over them.
 */
import type { HttpInterface } from './load-models.ts';

const ANTHROPIC_EVENTS: readonly string[] = [
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'ping',
  'error',
];

/**
 * Whether an error of the SDK only says that it does not know the kind of an event. One that it should know and cannot
 * read is not foreign.
 */
export function isForeignEvent(error: unknown, api: HttpInterface): boolean {
  if (!(error instanceof Error) || error.name !== 'AI_TypeValidationError') return false;
  const { value } = error as Error & { readonly value?: unknown };
  if (typeof value !== 'object' || value === null) return false;
  if (api === 'anthropic')
    return 'type' in value && typeof value.type === 'string' && !ANTHROPIC_EVENTS.includes(value.type);
  return api === 'openai-chat' && !('choices' in value) && !('error' in value);
}
