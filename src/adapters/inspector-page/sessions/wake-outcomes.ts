/** How wakes end, in words. */

const WORDS: Readonly<Record<string, string>> = {
  sleep: 'came to rest',
  requires_action: 'waits for somebody',
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
