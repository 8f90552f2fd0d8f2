/** One event of a session as one line for people: what happened, in as many words as it takes. */
import { environmentText } from '../env/text.ts';
import * as z from 'zod';
import { markText } from '../../machines/agent/definition-mark.ts';
import { restoredText } from '../../machines/workspace-copy/copy-notes.ts';
import type {
  SessionEvent,
  SessionEventData,
  SessionEventOf,
  SessionEventType,
} from '../../machines/session/session-event.ts';
import { bothEnds, exactLine, unmistakableLine } from '../../machines/exact-text.ts';
import { candidateText } from '../../machines/run/candidate.ts';
import type { RunDecision } from '../../machines/run/run-attempt.ts';
import { lessToReadText } from '../model-text.ts';
import { durationText, localTime, oneLine, printable } from '../terminal/text.ts';

/** What a person may have to judge by it: nothing in it is hidden, and of what is too long both ends are seen. */
interface ExactText {
  readonly name: string;
  readonly input: unknown;
  readonly after?: string;
}

type Describe<Type extends SessionEventType> = (event: SessionEventOf<Type>) => string | ExactText;

/** The gist of an event's data. A new type of event does not compile until it has one. */
const GIST: { readonly [Type in SessionEventType]: Describe<Type> } = {
  'user.message': ({ data }) =>
    `${data.text}${data.attachments === undefined ? '' : ` (with ${data.attachments.map(({ name }) => name).join(', ')})`}`,
  'user.custom_tool_result': ({ data }) => `${data.toolName} ${compact(data.output)}`,
  'user.tool_confirmation': ({ data }) =>
    `${data.toolName} ${data.allowed ? 'allowed' : 'denied'}${scopeText(data.scope)}${data.note === undefined ? '' : `: ${data.note}`} (request ${data.requestId})`,
  'user.answer': ({ data }) => `${data.response} (request ${data.requestId})`,
  'user.define_outcome': ({ data }) => data.title,
  'user.interrupt': ({ data }) => data.reason ?? 'the running turn is cut short',
  'session.created': ({ data }) =>
    `agent ${data.agentId}${data.title === undefined ? '' : `: ${data.title}`}${data.workspace === undefined ? '' : `, in ${data.workspace}`}${data.runsIn === undefined ? '' : ', in a process of its own'}`,
  'session.status_changed': ({ data }) =>
    [
      data.to,
      data.stopReason === undefined || data.stopReason === data.to ? '' : `(${data.stopReason})`,
      data.reason ?? '',
    ]
      .filter(Boolean)
      .join(' '),
  'session.status_idle': ({ data }) => `${data.reason}: ${data.summary}`,
  'session.parked': ({ data }) => data.reason,
  'session.unparked': () => 'a client woke it',
  'session.child_created': ({ data }) => `${data.childSessionId} of agent ${data.agentId}`,
  'session.child_idle': ({ data }) => `${data.childSessionId} ${data.reason}: ${data.summary}`,
  'subagent.started': ({ data }) =>
    `${data.jobId} of agent ${data.agentId}${surroundings({ isolation: data.isolation })}${data.prompt === undefined ? '' : `: ${data.prompt}`}`,
  'subagent.ended': ({ data }) =>
    `${data.jobId} of agent ${data.agentId} ${data.status}: ${data.error?.message ?? data.summary}${leftText(data)}`,
  'session.parent_told': ({ data }) => `of event ${data.turn}`,
  'message.consumed': ({ data }) => `${data.eventIds.length} read`,
  'wake.started': ({ data }) =>
    `epoch ${data.epoch}, by ${data.owner}${data.definition === undefined ? '' : `, under definition ${markText(data.definition)}`}`,
  'wake.ended': ({ data }) => `${data.outcome}: ${data.summary}`,
  'wake.queued': ({ data }) => `${data.reason} at ${localTime(data.dueAt)}`,
  'wake.cancelled': ({ data }) => `${data.queuedWakeId}: ${data.because}`,
  'wake.refused': ({ data }) => `${data.reason}: ${data.because}`,
  'span.started': ({ data }) =>
    `step ${data.step}, ${candidateText(data)}${missingText(data)}${data.because === undefined ? '' : `: ${data.because}`}`,
  'span.completed': ({ data }) => `${data.outcome}${data.error === undefined ? '' : `: ${data.error.message}`}`,
  'run.attempt_failed': ({ data }) =>
    `${data.error.kind}, ${NEXT[data.next]}: ${candidateText(data.candidate)}, attempt ${data.attempt}: ${data.error.message}`,
  'run.candidate_selected': ({ data }) => `${candidateText(data.candidate)}, attempt ${data.attempt}: ${data.because}`,
  'run.waiting': ({ data }) => `${durationText(data.waitMs)}: ${data.because}`,
  'run.context_reduced': ({ data }) => `${data.contextTokens} tokens: ${lessToReadText(data)}`,
  'backend.session_bound': ({ data }) =>
    `${data.backend} session ${data.sessionId}, generation ${data.generation}${data.reseeded === undefined ? '' : `: ${data.reseeded}`}`,
  'agent.thinking': ({ data }) => data.text,
  'agent.message': ({ data }) => data.text,
  'agent.tool_use': ({ data }) => ({ name: data.name, input: data.input }),
  'agent.tool_started': ({ data }) =>
    `${data.callId}${data.allowedBy === undefined ? '' : ` (${data.allowedBy.rule ?? data.allowedBy.kind})`}`,
  'agent.tool_requeued': ({ data }) => `${data.callId}, attempt ${data.attempt}`,
  'agent.subflow_started': ({ data }) =>
    `${data.agentId} in ${data.childSessionId}${surroundings(data)}: ${data.message}`,
  'agent.question_asked': ({ data }) => `${data.question} (request ${data.requestId})`,
  'permission.requested': ({ data }) => ({
    name: data.toolName,
    input: data.input,
    after: `${data.cwd === undefined ? '' : `in ${data.cwd} `}(request ${data.requestId})`,
  }),
  'permission.resolved': ({ data }) =>
    `${data.decision}${scopeText(data.scope)}${data.note === undefined ? '' : `: ${data.note}`}${data.rules === undefined || data.rules.length === 0 ? '' : `; from then on: ${data.rules.join(', ')}`}`,
  'request.cancelled': ({ data }) => `${data.requestId}: ${data.because}`,
  'agent.tool_result': ({ data }) => `${data.name} ${toolResultText(data)}`,
  'agent.custom_tool_use': ({ data }) => ({ name: data.name, input: data.input, after: `(request ${data.requestId})` }),
  'context.compacted': ({ data }) =>
    `events up to ${data.throughSeq}: ${data.tokensBefore} tokens are ${data.tokensAfter} now`,
  'learning.kept': ({ data }) => `${data.learningId}: ${data.as}`,
  'environment.entered': ({ data }) => environmentText(data),
  'workspace.restored': ({ data }) => restoredText(data),
  'log.loss_accepted': ({ data }) => data.what,
  'workspace.not_copied': ({ data }) => data.reason,
  'outcome.defined': ({ data }) => data.title,
  'outcome.graded': ({ data }) => `${data.grade}: ${data.because}`,
  'outcome.evaluated': ({ data }) => `${data.verdict}: ${data.because}`,
  'memory.promoted': ({ data }) => `version ${data.version}: ${data.learningIds.join(', ')}`,
  'files.promoted': ({ data }) => `version ${data.version}: ${data.paths.join(', ')}`,
  'promotion.refused': ({ data }) => `${data.what}: ${data.because}`,
  'tool.skipped': ({ data }) => `${data.name}: ${data.reason}`,
  'directive.accepted': ({ data }) => `${data.directive.outcome}: ${data.directive.summary}`,
  'directive.rejected': ({ data }) => data.reason,
  'learning.captured': ({ data }) => `${data.kind}: ${data.title}`,
  'event.unrecognized': ({ data }) => `${data.type} v${data.v}: written by another version`,
};

function leftText(data: SessionEventData<'subagent.ended'>): string {
  const left = handedOver(data);
  return left === undefined ? '' : ` (its work is in ${left.worktreePath}, branch ${left.branchName})`;
}

/** Where another agent works, where that is not beside the one that asked. */
export function surroundings({
  run,
  isolation,
}: {
  readonly run?: 'process' | undefined;
  readonly isolation?: 'none' | 'worktree' | undefined;
}): string {
  const places = [...(run === 'process' ? ['a process'] : []), ...(isolation === 'worktree' ? ['a worktree'] : [])];
  return places.length === 0 ? '' : `, in ${places.join(' and ')} of its own`;
}

/** What came after a failure, in a word or two. */
const NEXT = {
  rotate_profile: 'next account',
  fall_back: 'next model',
  back_off: 'once more',
  compact: 'with less',
  give_up: 'given up',
} as const satisfies Record<RunDecision, string>;

/** What of the conversation the model is not given. */
function missingText({ omittedMessages = 0, shortenedMessages = 0 }: SessionEventData<'span.started'>): string {
  const missing = [
    ...(omittedMessages === 0 ? [] : [`${omittedMessages} left out`]),
    ...(shortenedMessages === 0 ? [] : [`${shortenedMessages} shortened`]),
  ];
  return missing.length === 0 ? '' : ` (messages: ${missing.join(', ')})`;
}

/** Characters that are more than a gist, however wide the place for it is. */
const MAX_GIST_CHARACTERS = 200;

/** Of what a person may have to judge, however narrow the place is. */
const MAX_EXACT_CHARACTERS = 400;

/** The gist of an event, printable, on one line: of at most `width` characters, but for what tools are asked to do. */
export function gistOf(event: SessionEvent, width = Infinity): string {
  // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
  const describe = GIST[event.type] as Describe<SessionEventType>;
  const gist = describe(event);
  if (typeof gist === 'string') return oneLine(gist, Math.min(width, MAX_GIST_CHARACTERS));
  const { name, input, after } = gist;
  return [
    exactLine(name),
    bothEnds(exactInputText(input), MAX_EXACT_CHARACTERS),
    ...(after === undefined ? [] : [exactLine(after)]),
  ].join(' ');
}

function scopeText(scope: SessionEventData<'user.tool_confirmation'>['scope']): string {
  return scope === undefined || scope === 'once' ? '' : ` (${scope})`;
}

/**
 * All that a tool is asked for: a command as it stands, and whatever else there is as JSON, which is unmistakable in
 * itself.
 */
function exactInputText(input: unknown): string {
  if (typeof input === 'string') return unmistakableLine(input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return exactLine(compact(input));
  const { command, ...rest } = input as Readonly<Record<string, unknown>>;
  if (typeof command !== 'string') return exactLine(compact(input));
  return [unmistakableLine(command), ...(Object.keys(rest).length === 0 ? [] : [exactLine(compact(rest))])].join(' ');
}

type ToolResult = Pick<SessionEventData<'agent.tool_result'>, 'outcome' | 'output'>;

/** How a tool call ended: the exit code or signal of a shell tool, the outcome of any other. */
export function toolEnding({ outcome, output }: ToolResult): { readonly text: string; readonly isGood: boolean } {
  if (outcome !== 'completed') return { text: outcome, isGood: false };
  if (typeof output !== 'object' || output === null) return { text: 'done', isGood: true };
  if ('signalCode' in output && typeof output.signalCode === 'string')
    return { text: output.signalCode, isGood: false };
  if ('exitCode' in output && typeof output.exitCode === 'number')
    return { text: `exit ${output.exitCode}`, isGood: output.exitCode === 0 };
  return { text: 'done', isGood: true };
}

/** What a tool call gave back: the output of a shell tool as it stands, anything else as JSON. */
export function toolOutputText(output: unknown): string {
  if (typeof output === 'object' && output !== null && 'output' in output && typeof output.output === 'string')
    return output.output;
  return compact(output);
}

function toolResultText(result: ToolResult): string {
  return `${toolEnding(result).text}  ${toolOutputText(result.output)}`;
}

const handover = z.object({
  worktree: z.object({
    worktreePath: z.string(),
    branchName: z.string(),
    worktreeStatus: z.string(),
    worktreeNextAction: z.string().optional(),
  }),
});

export type HandedOver = z.output<typeof handover>['worktree'];

/**
 * The worktree in which a subagent left work, as the result of a call or the end of a job says; undefined when nothing
 * was left.
 */
export function handedOver(given: unknown): HandedOver | undefined {
  const { data } = handover.safeParse(given);
  return data === undefined || data.worktree.worktreeStatus === 'removed' ? undefined : data.worktree;
}

/**
 * What to do with it, line by line: what stands in a log knows nothing of the home that commands of ours would have to
 * name.
 */
export function handoverLines(given: unknown): string[] {
  const text = handedOver(given)?.worktreeNextAction ?? '';
  return printable(text)
    .split('\n')
    .filter((line) => line !== '' && !line.includes('wakechart worktree '));
}

/** What a tool is asked for: the command of a shell tool as it stands, anything else as JSON. */
export function toolInputText(input: unknown): string {
  if (typeof input === 'object' && input !== null && 'command' in input && typeof input.command === 'string')
    return input.command;
  return compact(input);
}

/** A call as one would type it: the command of a shell tool, the name of any other with what says most about it. */
export function toolCallText(name: string, input: unknown): string {
  return typeof input === 'object' && input !== null && 'command' in input && typeof input.command === 'string'
    ? input.command
    : `${name} ${toolInputGist(input)}`;
}

/** The part of a tool's input that says most: a command, a path, a pattern, a message; else all of it. */
export function toolInputGist(input: unknown): string {
  if (typeof input !== 'object' || input === null) return compact(input);
  const fields = input as Readonly<Record<string, unknown>>;
  const parts = ['command', 'pattern', 'path', 'message', 'question'].flatMap((name) =>
    typeof fields[name] === 'string' ? [fields[name]] : [],
  );
  return parts.length === 0 ? compact(input) : parts.join(' in ');
}

function compact(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
