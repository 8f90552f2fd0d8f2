/** Why a model speaks in a session, read from the end of its log, in the words of the command line. */
import type { Sessions } from '../actors/session/sessions.ts';
import { candidateText } from '../machines/run/candidate.ts';
import type { SessionEvent, SessionEventData } from '../machines/session/session-event.ts';
import type { SessionState } from '../machines/session/session-state.ts';
import { beginsModelStep, explainModel, tellsOfModel } from '../machines/session/why-model.ts';
import type { ModelDecision, ModelExplanation } from '../machines/session/why-model.ts';
import type { Output } from './terminal/output.ts';
import { counted, durationText, localTime, printable } from './terminal/text.ts';
import { wrapped } from './terminal/text-width.ts';

/** Events that are read at once, at first: most steps are short. */
const FIRST_PAGE = 64;
const MAX_PAGE = 1_024;

/** From as little of the log as holds the last model step. Undefined where there was none. */
export async function lastModel(
  sessions: Pick<Sessions, 'events'>,
  { sessionId, head, wakes }: Pick<SessionState, 'sessionId' | 'head' | 'wakes'>,
): Promise<ModelExplanation | undefined> {
  if (wakes === 0) return undefined;
  const newest: SessionEvent[] = [];
  for (let last = head, size = FIRST_PAGE; last >= 1; size = Math.min(size * 2, MAX_PAGE)) {
    const from = Math.max(1, last - size + 1);
    const page: SessionEvent[] = [];
    for await (const event of sessions.events(sessionId, { from, limit: last - from + 1 }))
      if (tellsOfModel(event)) page.push(event);
    newest.unshift(...page);
    if (page.some(beginsModelStep)) return explainModel(newest);
    last = from - 1;
  }
  return undefined;
}

/** What lines begin with that go on with the one before. */
const HANGING = '  ';

const STATES = {
  running: 'is asked in',
  waiting: 'is waited for in',
  completed: 'has answered in',
  failed: 'has failed in',
  aborted: 'was stopped in',
  lost: 'was asked when its process died, in',
} as const satisfies Record<ModelExplanation['state'], string>;

export interface ModelTextOptions {
  readonly out: Output;
  /** What every line begins with. */
  readonly indent: string;
}

export function modelLines(
  { candidate, backend, state, step, since, because, passedOver, decisions, error, reseeded }: ModelExplanation,
  { out, indent }: ModelTextOptions,
): string[] {
  const { styles, columns } = out;
  const inside = `${indent}  `;
  /** A text with a hanging indent under it. */
  const lines = (text: string, mark = ''): string[] =>
    wrapped(printable(text.replaceAll(/\s+/gu, ' ')), columns - inside.length - HANGING.length).map(
      (line, index) => `${inside}${index === 0 ? mark : HANGING}${line}`,
    );
  const head = `Model: ${candidateText(candidate)} (backend ${backend}) ${STATES[state]} step ${step}.`;
  return [
    ...wrapped(printable(head), columns - inside.length).map(
      (line, index) => `${indent}${index === 0 ? styles.cyan('•') : ' '} ${line}`,
    ),
    `${inside}${styles.dim(`since ${localTime(since)}`)}`,
    ...lines(`because: ${because === undefined ? 'there is no other.' : withLocalTimes(because)}`),
    ...passedOver.flatMap((skipped) => lines(`passed over: ${withLocalTimes(skipped.because)}`)),
    ...decisions.flatMap((decision) => lines(`${localTime(decision.at)} ${decisionText(decision)}`, '- ')),
    ...(error === undefined ? [] : lines(`it failed (${error.kind}): ${withLocalTimes(error.message)}`)),
    ...(reseeded === undefined ? [] : lines(`the conversation was given to the backend anew: ${reseeded}`)),
  ];
}

function decisionText(decision: ModelDecision): string {
  switch (decision.kind) {
    case 'failed': {
      const wait =
        decision.waitMs === undefined || decision.waitMs === 0 ? '' : ` After ${durationText(decision.waitMs)}.`;
      return `attempt ${decision.attempt}: ${failedAttemptText(decision)}${wait}`;
    }
    case 'selected':
      return `attempt ${decision.attempt}: ${candidateText(decision.candidate)} was asked: ${withLocalTimes(decision.because)}`;
    case 'waiting':
      return `waited ${durationText(decision.waitMs)}: ${decision.because}`;
    case 'reduced':
      return `the model was given less to read, ${decision.contextTokens} tokens: ${lessToReadText(decision)}`;
  }
}

/** Who is asked in a step in place of those that rest; undefined where none was passed over. */
export function detourText(data: SessionEventData<'span.started'>): string | undefined {
  const { because, skipped = [] } = data;
  if (because === undefined || skipped.length === 0) return undefined;
  return `${candidateText(data)}: ${because} Passed over: ${skipped.map((each) => withLocalTimes(each.because)).join('; ')}.`;
}

/** Who failed, how, and what was decided. */
export function failedAttemptText({
  candidate,
  error,
  because,
}: Pick<SessionEventData<'run.attempt_failed'>, 'candidate' | 'error' | 'because'>): string {
  return `${candidateText(candidate)} failed (${error.kind}): ${ended(error.message)} ${because}`;
}

/** What a model is not given that could not read as much. */
export function lessToReadText({
  omittedMessages,
  shortenedMessages,
}: Pick<SessionEventData<'run.context_reduced'>, 'omittedMessages' | 'shortenedMessages'>): string {
  return `${counted(omittedMessages, 'message')} left out, ${shortenedMessages} shortened`;
}

/** As a sentence. */
function ended(text: string): string {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function withLocalTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => localTime(at));
}
