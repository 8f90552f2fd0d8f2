/** How wakes end and what they used, in words. */
import type { StatusWords } from './session-words.ts';

const WORDS: Readonly<Record<string, string>> = {
  sleep: 'came to rest',
  requires_action: 'waits for an answer',
  rescheduled: 'is tried again later',
  budget_reached: 'reached a budget',
  failed: 'failed',
  interrupted: 'was interrupted',
  aborted: 'was stopped by its process',
  terminated: 'terminated the session',
  lost: 'was lost with its process',
};

const BAD: ReadonlySet<string> = new Set(['failed', 'aborted', 'lost', 'budget_reached']);

/** As the end of a sentence that begins with the wake. */
export function wakeOutcome(outcome: string): string {
  return WORDS[outcome] ?? outcome;
}

export function isBadEnd(outcome: string): boolean {
  return BAD.has(outcome);
}

/** @param isWaiting whether an answer is still waited for; only the last wake can be the one that asked */
export function wakeWords(outcome: string | undefined, isWaiting: boolean): StatusWords {
  if (outcome === undefined) return { text: 'runs', status: 'running' };
  if (outcome === 'requires_action')
    return isWaiting
      ? { text: wakeOutcome(outcome), status: 'waiting' }
      : { text: 'waited for an answer', status: 'quiet' };
  return { text: wakeOutcome(outcome), status: isBadEnd(outcome) ? 'error' : 'quiet' };
}

export interface UsedInAll {
  readonly wakeCount: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars. */
  readonly cost?: number | undefined;
  readonly isCostPartial: boolean;
}

export function usageWords({ wakeCount, inputTokens, outputTokens, cost, isCostPartial }: UsedInAll): string {
  const wakes = `${amount(wakeCount)} ${wakeCount === 1 ? 'wake' : 'wakes'}`;
  const tokens = `${amount(inputTokens)} tokens read, ${amount(outputTokens)} written`;
  const paid =
    cost === undefined
      ? isCostPartial
        ? 'cost not known'
        : undefined
      : `${isCostPartial ? 'at least ' : ''}${priceWords(cost)}`;
  return [wakes, tokens, paid].filter((part) => part !== undefined).join(' · ');
}

/** In US dollars. */
export function priceWords(dollars: number): string {
  return `$${dollars.toFixed(dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2)}`;
}

function amount(count: number): string {
  return count.toLocaleString('en');
}
