/**
 * What an event of a session's log says of a call of a tool: that it is asked for, waited for, begun, or how it ended.
 */
import type { SessionEvent, SessionEventOf, SessionEventType } from '../session/session-event.ts';
import { partsOf } from './data-parts.ts';
import type { DataPart } from './data-parts.ts';
import { changesOf, objectOf } from './file-changes.ts';
import type { ChangedLines } from './file-changes.ts';
import type { ShownStatus } from './session-words.ts';

/**
 * `waiting` for a person or client who then `allowed` it or `answered`, `delegated` to another agent, `running`, or how
 * it ended.
 */
export type CallState =
  | 'requested'
  | 'waiting'
  | 'allowed'
  | 'answered'
  | 'delegated'
  | 'running'
  | 'completed'
  | 'failed'
  | 'denied'
  | 'cancelled'
  | 'unknown';

/** What is absent stays as it was. */
export interface CallChange {
  /** There where it was not known before. */
  readonly name?: string | undefined;
  /** Absent too where `changes` tell all of it. */
  readonly input?: readonly DataPart[] | undefined;
  readonly state?: CallState | undefined;
  /** The state in words, and its color. */
  readonly told?: string | undefined;
  readonly status?: ShownStatus | undefined;
  /** Without what is empty; `characters`: of all of it, as JSON. */
  readonly output?: { readonly parts: readonly DataPart[]; readonly characters: number } | undefined;
  /** Of its input. */
  readonly command?: string | undefined;
  /** The file that it writes, and what it changes in it. */
  readonly path?: string | undefined;
  readonly changes?: ChangedLines | undefined;
  /** In words: a rule, a person. */
  readonly allowedBy?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
}

const STATES: Readonly<Record<CallState, readonly [string, ShownStatus]>> = {
  requested: ['asked for', 'quiet'],
  waiting: ['waits for an answer', 'waiting'],
  allowed: ['allowed', 'quiet'],
  answered: ['answered', 'quiet'],
  delegated: ['waits for another agent', 'running'],
  running: ['runs', 'running'],
  completed: ['completed', 'done'],
  failed: ['failed', 'error'],
  denied: ['denied', 'error'],
  cancelled: ['cancelled', 'quiet'],
  unknown: ['its end is unknown', 'error'],
};

const ALLOWED_BY = {
  preapproved: 'the agent, without asking',
  read_only: 'itself: it only reads',
  safe_command: 'itself: it is known to be harmless',
  session_rule: 'what was allowed for this session',
  policy: 'a rule',
  person: 'a person',
} as const;

/** Tools that change files as their input says. */
const WRITERS: ReadonlySet<string> = new Set(['edit', 'write']);

const CHANGES: { readonly [Type in SessionEventType]?: (event: SessionEventOf<Type>) => CallChange } = {
  'agent.tool_use': ({ data }) => ({
    ...inputOf(data),
    ...(data.by === 'backend'
      ? { ...stood('running'), allowedBy: 'the backend, which runs it itself' }
      : stood('requested')),
  }),
  'agent.tool_started': ({ at, data: { allowedBy } }) => ({
    ...stood('running'),
    startedAt: timeOf(at),
    allowedBy:
      allowedBy === undefined
        ? undefined
        : `${ALLOWED_BY[allowedBy.kind]}${allowedBy.rule === undefined ? '' : `: ${allowedBy.rule}`}`,
  }),
  'agent.tool_requeued': () => stood('requested'),
  'permission.resolved': ({ data }) => stood(data.decision === 'allowed' ? 'allowed' : 'denied'),
  'user.tool_confirmation': ({ data }) => stood(data.allowed ? 'allowed' : 'denied'),
  'user.answer': () => stood('answered'),
  'user.custom_tool_result': () => stood('answered'),
  'permission.requested': () => stood('waiting'),
  'agent.question_asked': () => stood('waiting'),
  'agent.custom_tool_use': () => stood('waiting'),
  'agent.subflow_started': () => stood('delegated'),
  'agent.tool_result': ({ at, data }) => ({ name: data.name, ...resultOf(data), endedAt: timeOf(at) }),
};

/** Undefined: it says nothing of any. */
export function callChange(event: SessionEvent): CallChange | undefined {
  // The lookup by type ties the event and what it says together, which the compiler cannot follow through a computed
  // key.
  return (CHANGES[event.type] as ((event: SessionEvent) => CallChange) | undefined)?.(event);
}

function stood(state: CallState): CallChange {
  const [told, status] = STATES[state];
  return { state, told, status };
}

function inputOf({ name, input }: SessionEventOf<'agent.tool_use'>['data']): CallChange {
  const { command, path } = objectOf(input);
  const file =
    WRITERS.has(name) && typeof path === 'string' ? { path, changes: changesOf(input, undefined) } : undefined;
  return {
    name,
    ...(file?.changes === undefined ? { input: partsOf(input) } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...file,
  };
}

/** A command that ran to its end has succeeded only with the exit code 0. */
function resultOf({ name, outcome, output }: SessionEventOf<'agent.tool_result'>['data']): CallChange {
  const { exitCode, signalCode } = objectOf(output);
  const isWhole = outcome === 'completed';
  const changes = WRITERS.has(name) ? changesOf(undefined, output) : undefined;
  const isKept = ([key, value]: readonly [string, unknown]): boolean =>
    value !== null && value !== '' && (!isWhole || key !== 'exitCode');
  const value =
    typeof output !== 'object' || Array.isArray(output)
      ? output
      : Object.fromEntries(Object.entries(objectOf(output)).filter(isKept));
  return {
    ...stood(outcome),
    ...(isWhole && typeof exitCode === 'number'
      ? { told: `exit ${exitCode}`, status: exitCode === 0 ? 'done' : 'error' }
      : isWhole && typeof signalCode === 'string'
        ? { told: `ended by ${signalCode}`, status: 'error' }
        : {}),
    output: { parts: partsOf(value), characters: (JSON.stringify(output) ?? '').length },
    ...(changes === undefined ? {} : { changes }),
  };
}

function timeOf(iso: string): number | undefined {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}
