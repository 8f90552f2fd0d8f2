/** What stands at bars: why a wake began, whom a step asks, what is said of an end. */
import { cutText } from '../cut-text.ts';
import type { SessionEventData } from '../session/session-event.ts';
import { exitCodeIn, reasonIn } from './actor-outcome.ts';
import { wakeOutcome } from './wake-words.ts';

const MAX_TOLD = 400;

type Trigger = NonNullable<SessionEventData<'wake.started'>['trigger']>;

const TRIGGERS: Readonly<Record<Trigger, string>> = {
  ingress: 'for a message',
  wake: 'that was queued',
  retry: 'after a failure',
  manual: 'by command',
};

/** @param number undefined where the log is not known from its beginning */
export function wakeLabel(number: number | undefined, trigger: Trigger | undefined): string {
  const why = trigger === undefined ? undefined : TRIGGERS[trigger];
  return ['Wake', number, why].filter((part) => part !== undefined).join(' ');
}

export function modelName({
  provider = '?',
  model = '?',
}: {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}): string {
  return `${provider}/${model}`;
}

export function wakeEndTold({ outcome, summary, error }: Partial<SessionEventData<'wake.ended'>>): string | undefined {
  if (outcome === 'lost') return sentence(summary);
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
