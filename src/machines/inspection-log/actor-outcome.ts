/**
 * How an actor has ended. Its status does not tell: the final state `failed` is as `done` as any other, a command that
 * exits with 1 is a call that has completed, and a wake that has failed is recorded, released and done. No imports of
 * schemas: the page of the inspector tells by this too.
 */
import type { InspectedStatus, InspectedValue } from './inspection-record.ts';

export type ActorOutcome = 'completed' | 'failed' | 'cancelled' | 'refused' | 'unknown';

/** As much of a record as tells it. */
export interface ToldEnd {
  readonly status: InspectedStatus;
  readonly value?: InspectedValue | undefined;
  readonly output?: unknown;
}

/** What the output of an actor says of itself in `outcome`: calls, runs and wakes of ours, and charts of others. */
const SAID: ReadonlyMap<string, ActorOutcome> = new Map([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['denied', 'refused'],
  ['unknown', 'unknown'],
  // Wakes.
  ['sleep', 'completed'],
  ['requires_action', 'completed'],
  ['rescheduled', 'completed'],
  ['terminated', 'completed'],
  ['budget_reached', 'refused'],
  ['interrupted', 'cancelled'],
  ['aborted', 'cancelled'],
  ['lost', 'unknown'],
]);

/** Names of final states, as charts of ours and of others have them: the last word of a path counts. */
const NAMED: readonly (readonly [RegExp, ActorOutcome])[] = [
  [/(?:^|[._])(?:failed|failure|error|errored|timed_?out|crashed|rejected)$/i, 'failed'],
  [/(?:^|[._])(?:cancell?ed|aborted|interrupted|stopped)$/i, 'cancelled'],
  [/(?:^|[._])(?:denied|refused|forbidden)$/i, 'refused'],
  [/(?:^|[._])(?:unknown|lost)$/i, 'unknown'],
];

/** `paymentFailed` reads as `payment_Failed`. */
const CAMEL = /([a-z])([A-Z])/g;

const BAD: ReadonlySet<ActorOutcome> = new Set(['failed', 'unknown']);

/** Undefined: it is not over. */
export function outcomeOf({ status, value, output }: ToldEnd): ActorOutcome | undefined {
  if (status === 'active') return undefined;
  if (status === 'error') return 'failed';
  const said = fieldOf(output, 'outcome');
  const told = typeof said === 'string' ? SAID.get(said) : undefined;
  if (told === 'completed') return isExitBad(output) ? 'failed' : 'completed';
  if (told !== undefined) return told;
  // Its maker stopped it, or ended before it.
  if (status === 'stopped') return 'cancelled';
  const leaves = leavesOfValue(value).map((leaf) => leaf.replaceAll(CAMEL, '$1_$2'));
  return NAMED.find(([name]) => leaves.some((leaf) => name.test(leaf)))?.[1] ?? 'completed';
}

/** Whether an engineer who searches for what went wrong wants to see it. */
export function isBad(outcome: ActorOutcome | undefined): boolean {
  return outcome !== undefined && BAD.has(outcome);
}

/** What the output says of why it did not complete. Undefined: nothing. */
export function reasonIn(
  output: unknown,
): { readonly message: string; readonly code?: string | undefined } | undefined {
  const error = fieldOf(output, 'error');
  const message = fieldOf(error, 'message');
  if (typeof message === 'string') {
    const code = fieldOf(error, 'code');
    return { message, code: typeof code === 'string' ? code : undefined };
  }
  const given = fieldOf(output, 'output');
  if (typeof given === 'string') return given.trim() === '' ? undefined : { message: given };
  const printed = fieldOf(given, 'output');
  const lastLine = typeof printed === 'string' ? printed.trimEnd().split('\n').at(-1)?.trim() : undefined;
  return lastLine === undefined || lastLine === '' ? undefined : { message: lastLine };
}

/** Of the program that a call ran. */
export function exitCodeIn(output: unknown): number | undefined {
  const exitCode = fieldOf(fieldOf(output, 'output'), 'exitCode');
  return typeof exitCode === 'number' ? exitCode : undefined;
}

function isExitBad(output: unknown): boolean {
  return (exitCodeIn(output) ?? 0) !== 0 || typeof fieldOf(fieldOf(output, 'output'), 'signalCode') === 'string';
}

/** The paths of the innermost states: `running.stepping`. */
export function leavesOfValue(value: InspectedValue | undefined, before = ''): readonly string[] {
  if (value === undefined) return [];
  const path = (key: string): string => (before === '' ? key : `${before}.${key}`);
  if (typeof value === 'string') return value === '' ? [before] : [path(value)];
  const keys = Object.entries(value);
  return keys.length === 0 ? [before] : keys.flatMap(([key, within]) => leavesOfValue(within, path(key)));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
