/**
 * What happens to a conversation when its context gets too small: what would be left out next, and what is protected
 * from it.
 */
import { estimateMessages } from './conversation-costs.ts';
import type { ProviderMessage } from './provider-message.ts';
import { PROTECTED_EXCHANGES, protectedStart, withoutOldOutputs } from './transcript-bounds.ts';
import { exchangesOf } from './transcript-exchanges.ts';

export interface OutlookPart {
  readonly what: 'old_outputs' | 'oldest_exchanges' | 'summary';
  readonly messages: number;
  /** What would be freed, by estimate. */
  readonly tokens: number;
  readonly words: string;
}

export interface ContextOutlook {
  /** In the order in which it would go. */
  readonly next: readonly OutlookPart[];
  readonly protected: {
    readonly exchanges: number;
    readonly messages: number;
    readonly tokens: number;
    readonly words: string;
  };
}

/** @param whenFull what the agent wants then */
export function contextOutlook(
  messages: readonly ProviderMessage[],
  whenFull: 'omit' | 'summarize' = 'omit',
): ContextOutlook {
  const guarded = protectedStart(messages);
  const shortened = withoutOldOutputs(messages);
  const older = shortened.slice(0, guarded);
  const freed = estimateMessages(messages) - estimateMessages(shortened);
  const outputs = messages.filter(
    (message, index) => message !== shortened[index] && JSON.stringify(message) !== JSON.stringify(shortened[index]),
  ).length;
  const newest = messages.slice(guarded);
  const exchanges = exchangesOf(messages).filter(({ start }) => start >= guarded).length;
  const parts: OutlookPart[] = [
    {
      what: 'summary',
      messages: guarded,
      tokens: estimateMessages(messages, 0, guarded),
      words: 'A summary takes the place of the older part, as the agent file wants.',
    },
    {
      what: 'old_outputs',
      messages: outputs,
      tokens: freed,
      words: `The outputs of old tool calls go first; a line says where each is.`,
    },
    {
      what: 'oldest_exchanges',
      messages: older.length,
      tokens: estimateMessages(shortened, 0, guarded),
      words: 'Then the oldest exchanges go, several at a time; a line says how many.',
    },
  ];
  const wanted = parts.filter(
    ({ what, messages: count }) => count > 0 && (what !== 'summary' || whenFull === 'summarize'),
  );
  return {
    next: wanted,
    protected: {
      exchanges,
      messages: newest.length,
      tokens: estimateMessages(messages, guarded),
      words: `The newest ${PROTECTED_EXCHANGES} exchanges are kept as long as they fit, if need be with their long texts cut; what has to be answered now is kept whole as long as it fits alone.`,
    },
  };
}
