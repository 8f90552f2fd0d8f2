/** Accounts and the health of candidates in the words of the command line. No value of a secret comes this far. */
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import { candidateText } from '../../machines/run/candidate.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import { durationText, localTime, oneLine, printable, shellQuoted } from '../terminal/text.ts';

export function secretText({ secret }: AuthProfile): string {
  if (secret === undefined) return 'none: the program has its own login';
  return 'env' in secret ? `variable ${secret.env}` : `command ${printable(shellQuoted(secret.command))}`;
}

/** Names only. */
export function setText({ environment = {} }: AuthProfile): string {
  return Object.keys(environment).join(', ');
}

const STATES = {
  closed: 'ready',
  cooling: 'cooling',
  half_open: 'being tried',
  disabled: 'disabled',
} as const satisfies Record<CandidateHealth['state'], string>;

export const HEALTH_HEADINGS = ['CANDIDATE', 'STATE', 'UNTIL', 'FAILURES', 'LAST USED', 'BECAUSE'] as const;

export function healthRow(health: CandidateHealth, nowMs: number): readonly string[] {
  const { candidate, state, failures, billingFailures, lastUsedAt, because } = health;
  return [
    candidateText(candidate),
    isDue(health, nowMs) ? 'to be tried' : STATES[state],
    untilText(health, nowMs),
    String(failures + billingFailures),
    lastUsedAt === undefined ? 'never' : localTime(lastUsedAt),
    because === undefined ? '' : oneLine(`${because.kind}: ${because.message}`),
  ];
}

/** How long it still takes, and when that is. */
function untilText({ until }: CandidateHealth, nowMs: number): string {
  if (until === undefined) return '';
  const leftMs = Date.parse(until) - nowMs;
  return leftMs > 0 ? `in ${durationText(leftMs)} (${until})` : `now (since ${until})`;
}

/** Its rest is over, and no wake has tried it since. */
function isDue({ state, until }: CandidateHealth, nowMs: number): boolean {
  return (state === 'cooling' || state === 'disabled') && until !== undefined && Date.parse(until) <= nowMs;
}
