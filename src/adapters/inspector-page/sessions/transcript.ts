/** The log of a session as a conversation: what was said, which tools were called and what came of it, and what moved the session. */
import type { SessionEvent, SessionEventOf, SessionEventType } from '../../../machines/session/session-event.ts';
import { instant } from '../model/words.ts';
import { VERDICTS } from './session-words.ts';
import { isBadEnd, wakeOutcome } from './wake-outcomes.ts';

/** `said` by the agent, `heard` from outside. `turn`: a wake begins or ends. */
export type EntryKind = 'said' | 'heard' | 'thought' | 'call' | 'asked' | 'turn' | 'note' | 'trouble';

export interface Entry {
  /** Of the event that it begins with. */
  readonly seq: number;
  readonly type: string;
  readonly t: number | undefined;
  readonly kind: EntryKind;
  /** Who or what, in a few words. */
  readonly title: string;
  readonly text?: string | undefined;
  readonly call?: Call | undefined;
  /** A session that it is about. */
  readonly sessionId?: string | undefined;
}

export interface Call {
  readonly name: string;
  /** Absent where the event that asked for it is not among those that were read. */
  readonly input?: { readonly value: unknown } | undefined;
  /** `waiting` for somebody who then `allowed` it or `answered`, `delegated` to another agent, `running`, or how it ended. */
  readonly state: 'requested' | 'waiting' | 'allowed' | 'answered' | 'delegated' | 'running' | 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown';
  readonly output?: { readonly value: unknown } | undefined;
  /** In words: a rule, a person. */
  readonly allowedBy?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** It was asked for in an entry before: what was said about it meanwhile stands between. */
  readonly isResumed?: true | undefined;
}

type Body = Pick<Entry, 'kind' | 'title' | 'text' | 'sessionId'>;

/** @param events in the order of the log, without a gap */
export function transcriptOf(events: readonly SessionEvent[]): readonly Entry[] {
  const entries: Entry[] = [];
  const calls = new Map<string, number>();
  const asked = new Map<string, string>();
  for (const event of events) {
    const id = callOf(event, asked);
    const known = id === undefined ? undefined : calls.get(id);
    const entry = known === undefined ? undefined : entries[known];
    if (id !== undefined && entry?.call?.state === 'allowed' && event.type === 'agent.tool_started') {
      calls.set(id, entries.length);
      entries.push(goneOn({ ...entry, seq: event.seq, type: event.type, t: instant(event.at), call: { ...entry.call, isResumed: true } }, event));
    } else if (known !== undefined && entry !== undefined) entries[known] = goneOn(entry, event);
    else if (id !== undefined && (event.type === 'agent.tool_use' || event.type === 'agent.tool_result')) {
      calls.set(id, entries.length);
      entries.push(callEntry(event));
    }
    const body = bodyOf(event);
    if (body !== undefined) entries.push({ seq: event.seq, type: event.type, t: instant(event.at), ...body });
  }
  return entries;
}

/** The call that an event moves on. @param asked calls by the requests that they wait for; what this event tells is added */
function callOf({ type, data }: SessionEvent, asked: Map<string, string>): string | undefined {
  if (MOVES[type] === undefined) return undefined;
  const request = 'requestId' in data ? data.requestId : undefined;
  const id = 'callId' in data ? data.callId : asked.get(request ?? '');
  if (request !== undefined && id !== undefined) asked.set(request, id);
  return id;
}

function callEntry(event: SessionEventOf<'agent.tool_use'> | SessionEventOf<'agent.tool_result'>): Entry {
  const { seq, type, data } = event;
  const begun: Entry = { seq, type, t: instant(event.at), kind: 'call', title: data.name, call: { name: data.name, state: 'requested', ...('input' in data ? { input: { value: data.input } } : {}) } };
  return goneOn(begun, event);
}

function goneOn(entry: Entry, event: SessionEvent): Entry {
  const call = entry.call;
  return call === undefined ? entry : { ...entry, call: movedOn(call, event) };
}

function movedOn(call: Call, event: SessionEvent): Call {
  // The lookup by type ties the event and what it does together, which the compiler cannot follow through a computed key.
  const move = MOVES[event.type] as ((call: Call, event: SessionEvent) => Call) | undefined;
  return move?.(call, event) ?? call;
}

type Mover<Type extends SessionEventType> = (call: Call, event: SessionEventOf<Type>) => Call;

const waits = (call: Call): Call => ({ ...call, state: 'waiting' });
const answered = (call: Call): Call => ({ ...call, state: 'answered' });

const MOVES: { readonly [Type in SessionEventType]?: Mover<Type> } = {
  'agent.tool_use': (call, { data }) => (data.by === 'backend' ? { ...call, state: 'running', allowedBy: 'the backend, which runs it itself' } : call),
  'agent.tool_started': (call, { at, data: { allowedBy } }) => ({ ...call, state: 'running', startedAt: instant(at), allowedBy: allowedBy === undefined ? undefined : `${ALLOWED_BY[allowedBy.kind]}${allowedBy.rule === undefined ? '' : `: ${allowedBy.rule}`}` }),
  'agent.tool_requeued': (call) => ({ ...call, state: 'requested' }),
  'permission.resolved': (call, { data }) => ({ ...call, state: data.decision === 'allowed' ? 'allowed' : 'denied' }),
  'user.tool_confirmation': (call, { data }) => ({ ...call, state: data.allowed ? 'allowed' : 'denied' }),
  'user.answer': answered,
  'user.custom_tool_result': answered,
  'permission.requested': waits,
  'agent.question_asked': waits,
  'agent.custom_tool_use': waits,
  'agent.subflow_started': (call) => ({ ...call, state: 'delegated' }),
  'agent.tool_result': (call, { at, data }) => ({ ...call, state: data.outcome, endedAt: instant(at), output: { value: data.output } }),
};

const ALLOWED_BY = { preapproved: 'the agent, without asking', read_only: 'itself: it only reads', safe_command: 'itself: it is known to be harmless', session_rule: 'what was allowed for this session', policy: 'a rule', person: 'a person' } as const;

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
  'session.parked': ['trouble', 'Parked: it wakes nobody by itself any more'],
  'promotion.refused': ['note', 'What it learned was not promoted'],
  'directive.rejected': ['trouble', 'What it said about what comes next was not understood'],
  'context.compacted': ['note', 'What came before was summed up'],
};

const TEXTS = ['text', 'response', 'question', 'message', 'prompt', 'because', 'reason', 'summary', 'note'];
const SCOPES = { once: 'once', session: 'for the session', always: 'always' } as const;

/** What is not shown shows in what comes of it. */
function bodyOf(event: SessionEvent): Body | undefined {
  const plain = PLAIN[event.type];
  if (plain !== undefined) return { kind: plain[0], title: plain[1], text: textAmong(event.data) };
  // The same as with calls.
  const tell = TELLERS[event.type] as ((event: SessionEvent) => Telling | undefined) | undefined;
  const told = tell?.(event);
  return told === undefined ? undefined : { kind: told[0], title: told[1], text: told[2] ?? textAmong(event.data), sessionId: 'childSessionId' in event.data ? event.data.childSessionId : undefined };
}

/** Kind, title and text; without a text, the one among its data. */
type Telling = readonly [EntryKind, string, (string | undefined)?];

const TELLERS: { readonly [Type in SessionEventType]?: (event: SessionEventOf<Type>) => Telling | undefined } = {
  'user.custom_tool_result': ({ data }) => ['heard', `Result of ${data.toolName}`, jsonText(data.output)],
  'user.tool_confirmation': ({ data }) => ['heard', `${data.toolName} ${data.allowed ? `allowed ${SCOPES[data.scope ?? 'once']}` : 'denied'}`],
  'user.define_outcome': ({ data }) => ['heard', 'Goal', listed(data.title, data.criteria)],
  'agent.message': ({ data }) => ['said', data.partial === true ? 'Agent, cut short' : 'Agent'],
  'permission.requested': ({ data }) => ['asked', `Asks whether it may run ${data.toolName}`],
  'permission.resolved': ({ data }) => (data.decision === 'expired' ? ['trouble', 'Nobody answered in time: the call is denied'] : undefined),
  'agent.question_asked': ({ data }) => ['asked', 'Asks', listed(data.question, data.choices)],
  'agent.custom_tool_use': ({ data }) => ['asked', `Asks somebody to run ${data.name}`, jsonText(data.input)],
  'span.completed': ({ data: { error } }) => (error === undefined ? undefined : ['trouble', `The model step did not succeed: ${error.kind}`, error.message]),
  'run.attempt_failed': ({ data: { candidate, error, because } }) => ['trouble', `${candidate.provider}/${candidate.model} failed: ${error.kind}`, `${error.message}\n${because}`],
  'tool.skipped': ({ data }) => ['trouble', `The tool ${data.name} is not available`],
  'learning.captured': ({ data }) => ['note', 'Learned', `${data.title}\n${data.detail}`],
  'outcome.evaluated': ({ data }) => [data.verdict === 'fail' ? 'trouble' : 'note', `Goal: ${VERDICTS[data.verdict]}`],
  'memory.promoted': () => ['note', 'What it learned was promoted'],
  'substrate.promoted': () => ['note', 'What it made was promoted'],
  'event.unrecognized': ({ data }) => ['note', `An event of another version: ${data.type}`],
  'wake.started': ({ data }) => ['turn', 'A wake begins', data.trigger === undefined ? '' : TRIGGERS[data.trigger]],
  'wake.ended': ({ data }) => [isBadEnd(data.outcome) ? 'trouble' : 'turn', `The wake ends: it ${wakeOutcome(data.outcome)}`, endingText(data)],
  'wake.queued': ({ data }) => ['note', 'Queued a wake', `${data.reason}\n${data.note ?? ''}`.trim()],
  'session.child_idle': ({ data }) => ['heard', `The agent ${data.agentId} came to rest`],
  'subagent.started': ({ data }) => ['note', `Started the job ${data.label ?? data.agentId}`],
  'subagent.ended': ({ data }) => [data.status === 'completed' ? 'heard' : 'trouble', `The job of ${data.agentId} ${data.status}`, data.error?.message],
  'agent.subflow_started': ({ data }) => ['note', `Asks the agent ${data.agentId}`, ''],
};

const TRIGGERS = { ingress: 'somebody sent something', wake: 'a queued wake was due', retry: 'it is tried again', manual: 'somebody woke it' } as const;

function textAmong(data: object): string | undefined {
  const found = TEXTS.map((name) => (data as Readonly<Record<string, unknown>>)[name]).find((text) => typeof text === 'string');
  return typeof found === 'string' ? found : undefined;
}

function listed(text: string, items: readonly string[] = []): string {
  return [text, ...items.map((item) => `· ${item}`)].join('\n');
}

function endingText({ summary, error, budget }: SessionEventOf<'wake.ended'>['data']): string {
  const bound = budget === undefined ? undefined : `${budget.name}: ${budget.value}${budget.because === undefined ? '' : `, ${budget.because}`}`;
  return [summary, error === undefined ? undefined : `${error.message} [${error.code}]`, error?.hint, bound].filter((part) => part !== undefined && part !== '').join('\n');
}

function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
}
