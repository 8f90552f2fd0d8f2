/** What stands at bars: why a wake began, whom a step asks, what is said of an end. */
import { cutText } from '../cut-text.ts';
import type { SessionEventData } from '../session/session-event.ts';
import { exitCodeIn, reasonIn } from './actor-outcome.ts';
import { wakeOutcome } from './wake-words.ts';

const MAX_TOLD = 400;

export const TRIGGER_WORDS = {
  ingress: 'Wake',
  wake: 'Wake that was due',
  retry: 'Wake, tried again',
  manual: 'Wake by a client',
} as const satisfies Record<NonNullable<SessionEventData<'wake.started'>['trigger']>, string>;

export function modelName({
  provider = '?',
  model = '?',
}: {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}): string {
  return `${provider}/${model}`;
}

export function wakeEndTold({
  outcome,
  summary,
  error,
}: Partial<SessionEventData<'wake.ended'>>): string | undefined {
  return sentence(outcome === undefined ? undefined : `It ${wakeOutcome(outcome)}`, error?.message ?? summary);
}

/** Where it did not end well, the exit code or what the output says; else nothing. */
export function callEndTold(outcome: string | undefined, output: unknown): string | undefined {
  const exitCode = exitCodeIn({ output });
  if (outcome === 'completed' && (exitCode ?? 0) === 0) return undefined;
  const why = reasonIn({ output })?.message;
  return sentence(exitCode === undefined ? undefined : `exit ${exitCode}`, why);
}

/** The parts that there are, in one. */
export function sentence(...parts: readonly (string | undefined)[]): string | undefined {
  const told = parts.filter((part) => part !== undefined && part !== '').join(': ');
  return told === '' ? undefined : cutText(told, MAX_TOLD);
}

