/**
 * How long a provider asks to be left alone, from whichever of its fields, headers and texts says so. Durations are in
 * milliseconds.
 */
import type { FailureFacts } from './failure-facts.ts';
import type { RunFailureKind } from './run-failure.ts';

/**
 * Longer waits are taken for errors of the server, as are negative ones: they are ignored, so that no slip disables a
 * model for years.
 */
export const MAX_RETRY_AFTER_MS = 30 * 86_400_000;

const WAITING_HELPS: ReadonlySet<RunFailureKind> = new Set([
  'rate_limit',
  'overloaded',
  'server_error',
  'timeout',
  'billing',
]);

const UNIT_MS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|millis)/i, 1],
  [/^s/i, 1_000],
  [/^m/i, 60_000],
  [/^h/i, 3_600_000],
  [/^d/i, 86_400_000],
  [/^w/i, 604_800_000],
];

const AMOUNT =
  /(?:,|and|\s){0,5}(?<amount>\d{1,10}(?:\.\d{1,9})?) ?(?<unit>milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)(?![a-z])/iy;
const WAIT_WORDS =
  /(?:try again|retry|retrying|available(?: again)?|resets?|reset|please wait|wait)\s(?:(?:in|after|for|at least|about)\s){0,2}/gi;
const EPOCH_AFTER_BAR = /limit reached\|(?<epoch>\d{10,13})\b/i;
const DATE_WORDS =
  /(?:on|at|until|after) (?<day>\d{4}-\d\d-\d\d)(?:T| at | )(?<time>\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})? ?(?:Z|UTC)\b/i;
const RESET_HEADER = /^(?:x-)?ratelimit-reset|^(?:x|anthropic)-ratelimit-.{0,60}-?reset/;

/** Numbers from here on are moments, in seconds since the epoch; from a thousand times that, in milliseconds. */
const FIRST_EPOCH_SECONDS = 1_000_000_000;

/** @param now milliseconds since the epoch; without it, waits that are told as a moment in time are unknown. */
export function retryAfterOf(facts: FailureFacts, kind: RunFailureKind, now: number | undefined): number | undefined {
  if (!WAITING_HELPS.has(kind)) return undefined;
  const precise = [
    ...askedByHeader(facts.headers, now),
    ...facts.waits.map(({ key, value }) => askedByField(key, value, now)),
    ...askedByText(facts, now),
  ];
  // Headers of rate limits come with every answer: only a refusal for the rate makes them a wait.
  const found = kind === 'rate_limit' ? [...precise, nextReset(facts.headers, now)] : precise;
  return found.find((waitMs) => waitMs !== undefined);
}

/** Whole milliseconds, rounded up so that no retry is early; nothing for what cannot be meant. */
function sensible(waitMs: number): number | undefined {
  return waitMs >= 0 && waitMs <= MAX_RETRY_AFTER_MS ? Math.ceil(waitMs) : undefined;
}

function askedByHeader(headers: FailureFacts['headers'], now: number | undefined): readonly (number | undefined)[] {
  const milliseconds = decimal(headers.get('retry-after-ms'));
  const after = headers.get('retry-after');
  const seconds = decimal(after);
  return [
    milliseconds === undefined ? undefined : sensible(milliseconds),
    seconds === undefined ? untilDate(after, now) : sensible(seconds * 1_000),
  ];
}

function askedByField(key: string, value: string | number, now: number | undefined): number | undefined {
  const amount = typeof value === 'number' ? value : decimal(value);
  if (amount === undefined) return durationIn(String(value)) ?? untilDate(String(value), now);
  return /ms$/i.test(key) ? sensible(amount) : moment(amount, now);
}

/** A number without a unit: a moment when it is large enough to be one, else seconds. */
function moment(amount: number, now: number | undefined): number | undefined {
  if (amount < FIRST_EPOCH_SECONDS) return sensible(amount * 1_000);
  const epochMs = amount < FIRST_EPOCH_SECONDS * 1_000 ? amount * 1_000 : amount;
  return now === undefined ? undefined : sensible(epochMs - now);
}

function untilDate(text: string | undefined, now: number | undefined): number | undefined {
  // A date names its day: what `Date` makes of other texts, such as "-5", is not meant.
  return text === undefined || now === undefined || !/\d[ :-]\S/.test(text)
    ? undefined
    : sensible(Date.parse(text) - now);
}

function askedByText({ texts }: FailureFacts, now: number | undefined): readonly (number | undefined)[] {
  return texts
    .filter(({ isEvidence }) => isEvidence)
    .flatMap(({ text }) => {
      const epoch = EPOCH_AFTER_BAR.exec(text)?.groups?.['epoch'];
      const { day, time } = DATE_WORDS.exec(text)?.groups ?? {};
      const durations = [...text.matchAll(WAIT_WORDS)].map((words) => durationAt(text, words.index + words[0].length));
      return [
        epoch === undefined ? undefined : moment(Number(epoch), now),
        ...durations,
        day === undefined || time === undefined ? undefined : untilDate(`${day}T${time}Z`, now),
      ];
    });
}

function durationIn(text: string): number | undefined {
  return durationAt(text, 0);
}

/** `1.2s`, `20ms`, `6m0s`, `3h 12m`, `2 days, 3 hours and 5 minutes`, from this place on. */
function durationAt(text: string, from: number): number | undefined {
  let totalMs: number | undefined;
  AMOUNT.lastIndex = from;
  for (let part = AMOUNT.exec(text); part !== null; part = AMOUNT.exec(text)) {
    const { amount = '', unit = '' } = part.groups ?? {};
    totalMs = (totalMs ?? 0) + Number(amount) * (UNIT_MS.find(([pattern]) => pattern.test(unit))?.[1] ?? Number.NaN);
  }
  return totalMs === undefined ? undefined : sensible(totalMs);
}

/**
 * The last to be reset of the limits that are used up; where none says that it is, of those that do not say how much is
 * left.
 */
function nextReset(headers: FailureFacts['headers'], now: number | undefined): number | undefined {
  const limits = [...headers].flatMap(([name, value]) => {
    if (!RESET_HEADER.test(name)) return [];
    const waitMs = askedByField(name, value, now);
    return waitMs === undefined
      ? []
      : [{ waitMs, remaining: decimal(headers.get(name.replace('reset', 'remaining'))) }];
  });
  const usedUp = limits.filter(({ remaining }) => remaining === 0);
  const silent = limits.filter(({ remaining }) => remaining === undefined);
  const deciding = [usedUp, silent, limits].find((some) => some.length > 0);
  return deciding === undefined ? undefined : Math.max(...deciding.map(({ waitMs }) => waitMs));
}

function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}
