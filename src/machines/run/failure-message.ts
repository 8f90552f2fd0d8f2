/**
 * What a failure says, for people: one bounded line, without pages of proxies, without colors of terminals, and without
 * what looks like a key.
 */
import { cutText } from '../cut-text.ts';
import type { FailureFacts } from './failure-facts.ts';
import { clipped } from './failure-reading.ts';

/** Characters. */
const MAX_FAILURE_MESSAGE = 2_000;

const REDACTED = '[redacted]';

/** What keys of providers look like, and whatever stands where one belongs. The first group is kept. */
const SECRETS: readonly RegExp[] = [
  /(\b(?:Bearer|Basic)\s{1,3})[\w.~+/=*-]{8,}/gi,
  /(\b(?:x-api-key|api[-_]?key|authorization|access[-_]?token|client[-_]?secret|secret|password)["']?\s{0,3}[:=]\s{0,3}["']?)(?!Bearer|Basic)[\w.~+/*-]{12,}/gi,
  /([?&](?:key|api[-_]?key|access_token|token|sig|signature)=)[^&\s"']{6,}/gi,
  /(:\/\/)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)/g,
  /()\b(?:sk|pk|rk|gsk|xai|pplx|csk|fw|nvapi|hf|r8)[-_][\w*-]{8,}/g,
  /()\bgh[opsur]_\w{16,}|\bgithub_pat_\w{16,}/g,
  /()\bAIza[\w-]{16,}|\bya29\.[\w.-]{16,}/g,
  /()\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /()\beyJ[\w-]{10,}\.[\w-]{4,}(?:\.[\w-]*)?/g,
];

/** Says that something failed and nothing of why: what lies inside is told besides. */
const SAYS_LITTLE =
  /^(?:(?:typeerror: )?fetch failed|terminated|provider returned error|internal error|internal server error|no output generated.{0,80}|bad request|not found|unknown error|error|failed to process successful response|invalid json response|api error|cannot connect to api:?)\.?$/i;

const PAGE = /^\s{0,50}(?:<!doctype html|<html|<head|<\?xml)/i;
const PAGE_TITLE = /<title>\s{0,50}(?<title>[^<]{1,200})/i;

/** The last lines of what a program printed say why it ended. */
const LAST_LINES = 3;

/** The text without what looks like a key. Exact secrets are for those to remove who know them. */
export function withoutKeys(text: string): string {
  return SECRETS.reduce(
    (kept, pattern) => kept.replace(pattern, (_match, before: string | undefined) => `${before ?? ''}${REDACTED}`),
    text,
  );
}

/** One line of at most `MAX_FAILURE_MESSAGE` characters. */
export function messageLine(text: string): string {
  return cutText(withoutKeys(clipped(text)).replace(/\s+/g, ' ').trim(), MAX_FAILURE_MESSAGE);
}

/** Never empty. `otherwise` is for failures that say nothing at all. */
export function failureMessage(facts: FailureFacts, otherwise: string): string {
  const said = [
    ...new Set(facts.texts.map(({ text }) => messageLine(PAGE.test(text) ? pageText(text, facts) : lastLines(text)))),
  ].filter((line) => line !== '');
  const [first, ...further] = said;
  if (first === undefined)
    return messageLine(whatIsKnown(facts)) || messageLine(otherwise) || 'nothing was said about the reason';
  if (!SAYS_LITTLE.test(first)) return first;
  const more = further.find((line) => !SAYS_LITTLE.test(line) && !first.includes(line)) ?? whatIsKnown(facts);
  return messageLine(more === '' ? first : `${first}: ${more}`);
}

/** The title of a proxy's page says what happened; the page itself is for browsers. */
function pageText(page: string, facts: FailureFacts): string {
  const title = PAGE_TITLE.exec(page)?.groups?.['title'];
  const known = whatIsKnown(facts);
  return `the server answered with a page instead of data${title === undefined ? '' : `: ${title}`}${known === '' ? '' : ` (${known})`}`;
}

function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length > LAST_LINES * 4 ? lines.slice(-LAST_LINES).join('\n') : lines.join('\n');
}

function whatIsKnown({ values }: FailureFacts): string {
  const known = [
    ['HTTP', 'status'],
    ['code', 'code'],
    ['exit code', 'exit'],
    ['ended by', 'signal'],
  ] as const;
  return known
    .flatMap(([word, source]) => {
      const [first] = values.get(source) ?? [];
      return first === undefined ? [] : [`${word} ${first}`];
    })
    .join(', ');
}
