/**
 * Says what kind of failure it is that a backend threw or was answered with: structured facts first, by the tables of
 * failure-codes.ts; texts last, by the patterns of failure-patterns.ts. It never throws, never guesses, and answers the
 * same for the same thing.
 */
import { beginningOf } from '../cut-text.ts';
import { messageOf } from '../errors.ts';
import { FAILURE_TABLES } from './failure-codes.ts';
import { readFailureFacts } from './failure-facts.ts';
import type { FailureFacts } from './failure-facts.ts';
import { failureMessage, messageLine } from './failure-message.ts';
import { FAILURE_PATTERNS } from './failure-patterns.ts';
import type { FailurePattern } from './failure-patterns.ts';
import { clipped, field, isObject, textField } from './failure-reading.ts';
import type { FactSource, FailureRow, FailureTable } from './failure-table.ts';
import { MAX_RETRY_AFTER_MS, retryAfterOf } from './failure-wait.ts';
import { runFailure } from './run-failure.ts';
import type { RunFailure, RunFailureKind } from './run-failure.ts';

interface ClassifyOptions {
  /** Milliseconds since the epoch, for waits that are told as a moment in time. Without it those are unknown. */
  readonly now?: number | undefined;
}

export interface ExplainedFailure {
  readonly failure: RunFailure;
  /**
   * What decided: a row of a table such as `status 429`, or a pattern such as `text "rate limit"`; `nothing fits` for
   * `unknown`.
   */
  readonly rule: string;
}

/** Characters of all texts together that patterns are tried on, before codes in them are spelled out. */
const MAX_EVIDENCE_CHARACTERS = 32_000;

/**
 * Accepts whatever was thrown: errors with their causes, errors of the AI SDK and of Node, `{status, headers?, body?,
 * message?}` of HTTP, `{exitCode, signal?, stderr, message?}` of a program, bodies of answers, and failures that are
 * classified already.
 */
export function classifyRunFailure(error: unknown, options: ClassifyOptions = {}): RunFailure {
  return explainRunFailure(error, options).failure;
}

/** The same, and which rule decided. */
export function explainRunFailure(error: unknown, { now }: ClassifyOptions = {}): ExplainedFailure {
  try {
    return alreadyClassified(error) ?? explain(error, now);
  } catch {
    return { failure: { kind: 'unknown', message: 'the failure cannot be read' }, rule: 'unreadable' };
  }
}

function explain(error: unknown, now: number | undefined): ExplainedFailure {
  const facts = readFailureFacts(error);
  const { withWait, ...decision } = decide(facts);
  const { rule, isByText, source } = decision;
  const retryAfterMs = retryAfterOf(facts, withWait ?? decision.kind, now);
  const kind = retryAfterMs === undefined ? decision.kind : (withWait ?? decision.kind);
  const message = failureMessage(
    facts,
    typeof error === 'function' ? 'a function was thrown' : clipped(messageOf(error)),
  );
  return {
    failure: {
      kind,
      message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(isByText ? { evidence: 'text' } : {}),
      ...sourceMarks(kind, source),
    },
    rule,
  };
}

function sourceMarks(
  kind: RunFailureKind,
  source: FactSource | undefined,
): Pick<RunFailure, 'isLocal' | 'hint' | 'retry'> {
  if (source === 'system')
    return { isLocal: true, hint: 'This machine has run out of what the message names: free some of it.' };
  return kind === 'server_error' && (source === 'exit' || source === 'signal') ? { retry: 'once' } : {};
}

/** What a backend has classified stays what it is; only its message is made fit to be stored. */
function alreadyClassified(error: unknown): ExplainedFailure | undefined {
  if (!isObject(error)) return undefined;
  const { data } = runFailure.safeParse({ kind: field(error, 'kind'), message: field(error, 'message') });
  if (data === undefined) return undefined;
  const { kind, message } = data;
  const retryAfterMs = field(error, 'retryAfterMs');
  const isSensible = typeof retryAfterMs === 'number' && retryAfterMs >= 0 && retryAfterMs <= MAX_RETRY_AFTER_MS;
  const failure = {
    kind,
    message: messageLine(message) || `the run failed: ${kind}`,
    ...(isSensible ? { retryAfterMs } : {}),
    ...marksOf(error),
  };
  return { failure, rule: 'already classified' };
}

function marksOf(
  failure: object,
): Pick<RunFailure, 'evidence' | 'isLocal' | 'isRest' | 'isNotUnderstood' | 'retry' | 'hint'> {
  const is = (name: 'isLocal' | 'isRest' | 'isNotUnderstood'): boolean => field(failure, name) === true;
  const retry = field(failure, 'retry');
  const hint = textField(failure, 'hint');
  return {
    ...(field(failure, 'evidence') === 'text' ? { evidence: 'text' } : {}),
    ...(is('isLocal') ? { isLocal: true } : {}),
    ...(is('isRest') ? { isRest: true } : {}),
    ...(is('isNotUnderstood') ? { isNotUnderstood: true } : {}),
    ...(retry === 'once' || retry === 'never' ? { retry } : {}),
    ...(hint === undefined ? {} : { hint: messageLine(hint) }),
  };
}

interface Decision extends Pick<FailurePattern, 'kind' | 'withWait'> {
  readonly rule: string;
  /** Nothing but words says that it is this kind. */
  readonly isByText: boolean;
  /** Of the fact that decided; absent for words. */
  readonly source?: FactSource;
}

function decide(facts: FailureFacts): Decision {
  const evidence = evidenceOf(facts);
  for (const table of FAILURE_TABLES) {
    for (const value of facts.values.get(table.source) ?? []) {
      const found = rowFor(table, value);
      if (found !== undefined)
        return { ...madePrecise(found, evidence, !facts.isGiven(table.source, value)), source: table.source };
    }
  }
  return byText(evidence) ?? { kind: 'unknown', rule: 'nothing fits', isByText: false };
}

interface FoundRow extends FailureRow {
  readonly rule: string;
}

function rowFor({ called, rows }: FailureTable, value: string): FoundRow | undefined {
  const key = rows.has(value) ? value : value.replace(/^5\d\d$/, '5xx');
  const row = rows.get(key);
  return row === undefined ? undefined : { ...row, rule: `${called} ${key}` };
}

function madePrecise({ kind, yieldsTo, rule }: FoundRow, evidence: string, isByText: boolean): Decision {
  return (yieldsTo.length === 0 ? undefined : byText(evidence, yieldsTo)) ?? { kind, rule, isByText };
}

function byText(evidence: string, kinds?: readonly RunFailureKind[]): Decision | undefined {
  const found = FAILURE_PATTERNS.find(
    ({ kind, pattern }) => (kinds === undefined || kinds.includes(kind)) && pattern.test(evidence),
  );
  if (found === undefined) return undefined;
  const { id, kind, withWait } = found;
  return { kind, rule: `text "${id}"`, isByText: true, ...(withWait === undefined ? {} : { withWait }) };
}

function evidenceOf({ texts }: FailureFacts): string {
  const evidence = beginningOf(
    texts
      .filter(({ isEvidence }) => isEvidence)
      .map(({ text }) => text)
      .join('\n'),
    MAX_EVIDENCE_CHARACTERS,
  );
  // Texts quote codes, such as `overloaded_error`: patterns are made of words. As it is it stays too, because of names
  // that have such marks.
  return evidence.includes('_') ? `${evidence}\n${evidence.replaceAll('_', ' ')}` : evidence;
}
