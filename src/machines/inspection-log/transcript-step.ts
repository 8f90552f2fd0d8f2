/**
 * Each event of a session's log as a step of a conversation: what was said, what moved which call, and what became of
 * which request.
 */
import { markText } from '../agent/definition-mark.ts';
import { restoredText } from '../workspace-copy/copy-notes.ts';
import type { SessionEvent, SessionEventOf, SessionEventType } from '../session/session-event.ts';
import { jsonText } from './data-parts.ts';
import { VERDICTS } from './session-words.ts';
import { callChange } from './transcript-calls.ts';
import type { CallChange } from './transcript-calls.ts';
import { isBadEnd, wakeOutcome } from './wake-words.ts';

/** `said` by the agent, `heard` from outside. `turn`: a wake begins or ends. */
export type EntryKind = 'said' | 'heard' | 'thought' | 'call' | 'asked' | 'turn' | 'note' | 'trouble';

export interface TranscriptBody {
  readonly kind: EntryKind;
  /** Who or what, in a few words. */
  readonly title: string;
  readonly text?: string | undefined;
  /** A session that it is about. */
  readonly sessionId?: string | undefined;
}

export interface TranscriptStep {
  /** Of the event. */
  readonly seq: number;
  readonly type: string;
  /** Milliseconds since the epoch. Absent: it says none. */
  readonly t?: number | undefined;
  /** Absent: it shows in what comes of it. */
  readonly entry?: TranscriptBody | undefined;
  /** What is new about a call; `callId`, or else `requestId`, says of which. */
  readonly call?: CallChange | undefined;
  readonly callId?: string | undefined;
  readonly requestId?: string | undefined;
  /** What became of the request, as a sentence. */
  readonly outcome?: string | undefined;
}

/** @param event redacted and bounded: of data that were cut it tells what is there */
export function transcriptStep(event: SessionEvent): TranscriptStep {
  const { seq, type, at, data } = event;
  const ms = Date.parse(at);
  const step = { seq, type, ...(Number.isNaN(ms) ? {} : { t: ms }) };
  try {
    const call = callChange(event);
    const outcome = outcomeTold(event);
    return {
      ...step,
      entry: bodyOf(event),
      ...(call === undefined ? {} : { call, callId: 'callId' in data ? data.callId : undefined }),
      ...(call === undefined && outcome === undefined
        ? {}
        : { outcome, requestId: 'requestId' in data ? data.requestId : undefined }),
    };
  } catch {
    // What it would be told from was cut away.
    return { ...step, entry: { kind: 'note', title: 'An event that cannot be told' } };
  }
}

/** Whose text is among their data under one of `TEXTS`. */
const PLAIN: { readonly [Type in SessionEventType]?: readonly [EntryKind, string] } = {
  'session.created': ['turn', 'The session was created'],
  'user.message': ['heard', 'Message'],
  'user.answer': ['heard', 'Answer'],
  'user.interrupt': ['trouble', 'Interrupted'],
  'agent.thinking': ['thought', 'Reasoning'],
  'request.cancelled': ['note', 'A request was taken back'],
  'wake.cancelled': ['note', 'A queued wake will not come'],
  'wake.refused': ['note', 'A wake was not queued'],
  'run.waiting': ['trouble', 'Every model rests, so it waits'],
  'session.parked': ['trouble', 'Parked: it does not wake by itself any more'],
  'promotion.refused': ['note', 'What it learned was not promoted'],
  'directive.rejected': ['trouble', 'What it said about what comes next was not understood'],
  'context.compacted': ['note', 'What came before was summed up'],
};

const TEXTS = ['text', 'response', 'question', 'message', 'prompt', 'because', 'reason', 'summary', 'note'];
const SCOPES = { once: 'once', session: 'for the session', always: 'always' } as const;

/** What is not shown shows in what comes of it. */
function bodyOf(event: SessionEvent): TranscriptBody | undefined {
  const plain = PLAIN[event.type];
  if (plain !== undefined) return { kind: plain[0], title: plain[1], text: textAmong(event.data) };
  // The same as with calls.
  const tell = TELLERS[event.type] as ((event: SessionEvent) => Telling | undefined) | undefined;
  const told = tell?.(event);
  return told === undefined
    ? undefined
    : {
        kind: told[0],
        title: told[1],
        text: told[2] ?? textAmong(event.data),
        sessionId: 'childSessionId' in event.data ? event.data.childSessionId : undefined,
      };
}

/** Kind, title and text; without a text, the one among its data. */
type Telling = readonly [EntryKind, string, (string | undefined)?];

const TELLERS: { readonly [Type in SessionEventType]?: (event: SessionEventOf<Type>) => Telling | undefined } = {
  'user.custom_tool_result': ({ data }) => ['heard', `Result of ${data.toolName}`, jsonText(data.output)],
  'user.tool_confirmation': ({ data }) => [
    'heard',
    `${data.toolName} ${data.allowed ? `allowed ${SCOPES[data.scope ?? 'once']}` : 'denied'}`,
  ],
  'user.define_outcome': ({ data }) => ['heard', 'Goal', listed(data.title, data.criteria)],
  'agent.message': ({ data }) => ['said', data.partial === true ? 'Agent, cut short' : 'Agent'],
  'permission.requested': ({ data }) => ['asked', `Asks whether it may run ${data.toolName}`],
  'permission.resolved': ({ data }) =>
    data.decision === 'expired' ? ['trouble', 'No answer came in time: the call is denied'] : undefined,
  'agent.question_asked': ({ data }) => ['asked', 'Asks', listed(data.question, data.choices)],
  'agent.custom_tool_use': ({ data }) => ['asked', `Asks a client to run ${data.name}`, jsonText(data.input)],
  'span.completed': ({ data: { error } }) =>
    error === undefined ? undefined : ['trouble', `The model step did not succeed: ${error.kind}`, error.message],
  'run.attempt_failed': ({ data: { candidate, error, because } }) => [
    'trouble',
    `${candidate.provider}/${candidate.model} failed: ${error.kind}`,
    `${error.message}\n${because}`,
  ],
  'tool.skipped': ({ data }) => ['trouble', `The tool ${data.name} is not available`],
  'workspace.restored': ({ data }) => [
    data.mayHaveLost ? 'trouble' : 'note',
    `Goes on on ${data.host}`,
    restoredText(data),
  ],
  'log.loss_accepted': ({ data }) => ['trouble', 'A part of its log is gone', data.what],
  'workspace.not_copied': ({ data }) => ['trouble', 'No copy of its folder was made', data.reason],
  'learning.captured': ({ data }) => ['note', 'Learned', `${data.title}\n${data.detail}`],
  'outcome.evaluated': ({ data }) => [data.verdict === 'fail' ? 'trouble' : 'note', `Goal: ${VERDICTS[data.verdict]}`],
  'memory.promoted': () => ['note', 'What it learned was promoted'],
  'files.promoted': () => ['note', 'What it made was promoted'],
  'event.unrecognized': ({ data }) => ['note', `An event of another version: ${data.type}`],
  'wake.started': ({ data }) => ['turn', 'A wake begins', beginningText(data)],
  'wake.ended': ({ data }) => [
    isBadEnd(data.outcome) ? 'trouble' : 'turn',
    `The wake ends: it ${wakeOutcome(data.outcome)}`,
    endingText(data),
  ],
  'wake.queued': ({ data }) => ['note', 'Queued a wake', `${data.reason}\n${data.note ?? ''}`.trim()],
  'session.child_idle': ({ data }) => ['heard', `The agent ${data.agentId} came to rest`],
  'subagent.started': ({ data }) => ['note', `Started the job ${data.label ?? data.agentId}`],
  'subagent.ended': ({ data }) => [
    data.status === 'completed' ? 'heard' : 'trouble',
    `The job of ${data.agentId} ${data.status}`,
    data.error?.message,
  ],
  'agent.subflow_started': ({ data }) => ['note', `Asks the agent ${data.agentId}`, ''],
};

const TRIGGERS = {
  ingress: 'a client sent something',
  wake: 'a queued wake was due',
  retry: 'it is tried again',
  manual: 'a client woke it',
} as const;

function beginningText({ trigger, definition }: SessionEventOf<'wake.started'>['data']): string {
  return [
    trigger === undefined ? '' : TRIGGERS[trigger],
    definition === undefined ? '' : `definition ${markText(definition)}`,
  ]
    .filter((words) => words !== '')
    .join('; ');
}

function textAmong(data: object): string | undefined {
  const found = TEXTS.map((name) => (data as Readonly<Record<string, unknown>>)[name]).find(
    (text) => typeof text === 'string',
  );
  return typeof found === 'string' ? found : undefined;
}

function listed(text: string, items: readonly string[] = []): string {
  return [text, ...items.map((item) => `· ${item}`)].join('\n');
}

function endingText({ summary, error, budget }: SessionEventOf<'wake.ended'>['data']): string {
  const bound =
    budget === undefined
      ? undefined
      : `${budget.name}: ${budget.value}${budget.because === undefined ? '' : `, ${budget.because}`}`;
  return [summary, error === undefined ? undefined : `${error.message} [${error.code}]`, error?.hint, bound]
    .filter((part) => part !== undefined && part !== '')
    .join('\n');
}

// What became of a request, by the events of a session's log.

const REACHES = { once: 'this once', session: 'for the session', always: 'always' } as const;

/** What was decided; what was acted upon later says the same, or that no decision came in time. */
const SENTENCES: { readonly [Type in SessionEventType]?: (event: SessionEventOf<Type>) => string | undefined } = {
  'user.tool_confirmation': ({ data: { allowed, scope, note } }) =>
    allowed ? `It was allowed ${REACHES[scope ?? 'once']}.` : `It was denied${note === undefined ? '.' : `: ${note}`}`,
  'user.answer': ({ data }) => `It was answered: ${data.response}`,
  'user.custom_tool_result': () => 'Its result was given.',
  'request.cancelled': ({ data }) =>
    `It was taken back: ${data.because === 'interrupt' ? 'a client interrupted the session' : data.because === 'fork' ? 'the session is a copy' : 'the session ended'}.`,
  'permission.resolved': ({ data }) =>
    data.decision === 'expired' ? 'No answer came in time: the call was denied.' : undefined,
};

const MAX_CHARACTERS = 1_000;

/** As a sentence, cut where it is long. Undefined: the event settles none. */
function outcomeTold(event: SessionEvent): string | undefined {
  // The lookup by type ties the event and its sentence together, which the compiler cannot follow through a computed
  // key.
  return (SENTENCES[event.type] as ((event: SessionEvent) => string | undefined) | undefined)?.(event)?.slice(
    0,
    MAX_CHARACTERS,
  );
}
