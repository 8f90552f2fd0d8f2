/** What a model is told about events, in words. */
import type { Attachment } from '../session/event-parts.ts';
import type { SessionEventData } from '../session/session-event.ts';
import type { FilePart, TextPart, ToolResultPart } from './provider-message.ts';

/** What stands for an output without anything in it. */
const NO_OUTPUT = '(The tool returned nothing.)';

const BLANK_MESSAGE = '(The message is blank.)';

/**
 * Stands first where a conversation would begin with what the model said: every provider wants it to begin with another
 * speaker.
 */
export const OPENING: TextPart = { type: 'text', text: '(The conversation begins here.)' };

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** In JSON: an escaped backslash, which is passed over, or the escape of a lone surrogate. */
const ESCAPED_SURROGATE = /\\(?:\\|u(?<surrogate>d[89a-f][0-9a-f]{2}))/g;

/** The text without lone surrogates, which no provider can read. */
export function wellFormed(text: string): string {
  return text.replaceAll(LONE_SURROGATE, '\uFFFD');
}

/** The same JSON value with only well-formed texts in it. */
export function wellFormedJson<Value>(value: Value): Value {
  const json = JSON.stringify(value);
  const replaced = json.replaceAll(ESCAPED_SURROGATE, (escape, surrogate: string | undefined) =>
    surrogate === undefined ? escape : '\\ufffd',
  );
  // Replacing one character in texts by another leaves the shape as it was.
  return replaced === json ? value : (JSON.parse(replaced) as Value);
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

export function textPart(text: string): TextPart {
  return { type: 'text', text: wellFormed(text) };
}

/** What the model said. Some providers refuse a conversation that ends in white space. */
export function saidPart(text: string): TextPart {
  return textPart(text.trimEnd());
}

export function outputOf(output: unknown): unknown {
  if (typeof output !== 'string') return wellFormedJson(output ?? null);
  return isBlank(output) ? NO_OUTPUT : wellFormed(output);
}

/**
 * A message with its attachments, each described for a model that cannot see it and then referred to for one that can.
 */
export function messageParts({ text, attachments = [] }: SessionEventData<'user.message'>): (TextPart | FilePart)[] {
  const said = isBlank(text) ? BLANK_MESSAGE : text;
  return [
    textPart(said),
    ...attachments.flatMap((attachment) => [textPart(describeAttachment(attachment)), filePart(attachment)]),
  ];
}

function describeAttachment({ kind, name, mediaType, bytes, path }: Attachment): string {
  const size = bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `[Attached ${kind} ${JSON.stringify(name)} (${mediaType}, ${size}); in the workspace it is ${JSON.stringify(path)}]`;
}

function filePart({ mediaType, name, path, bytes, sha256 }: Attachment): FilePart {
  return {
    type: 'file',
    mediaType: wellFormed(mediaType),
    name: wellFormed(name),
    path: wellFormed(path),
    bytes,
    sha256,
  };
}

export function customResultText({ requestId, toolName, output }: SessionEventData<'user.custom_tool_result'>): string {
  return `Result of the custom tool "${toolName}" (request ${requestId}): ${JSON.stringify(output)}`;
}

export function childText({
  childSessionId,
  agentId,
  reason,
  summary,
}: SessionEventData<'session.child_idle'>): string {
  return `The child session ${childSessionId} (${agentId}) rests (${reason}): ${summary}`;
}

/** What a model reads of the end of a job: enough to fetch the work, wherever it was left. */
export function jobText({
  jobId,
  agentId,
  status,
  summary,
  outputPath,
  error,
  worktree,
}: SessionEventData<'subagent.ended'>): string {
  const ending =
    status === 'completed'
      ? `has finished: ${summary}`
      : `${status === 'failed' ? 'failed' : 'was cancelled'}: ${error?.message ?? summary}`;
  const whole = outputPath === undefined ? '' : `\nIts whole answer is in ${outputPath}.`;
  const left =
    worktree === undefined || worktree.worktreeStatus === 'removed'
      ? ''
      : `\nIts work is in ${worktree.worktreePath} on branch ${worktree.branchName}. ${worktree.worktreeNextAction ?? ''}`.trimEnd();
  return `The subagent job ${jobId} (${agentId}) ${ending}${whole}${left}`;
}

export function dueText({ reason, note }: { readonly reason: string; readonly note?: string | undefined }): string {
  return `A wake that you queued is due: ${reason}${note === undefined ? '' : `\n${note}`}`;
}

/** Of a call that a model has been told is open, or of unknown effect: what it was told stays as it was. */
export function lateResultText({ callId, name, outcome, output }: ToolResultPart): string {
  return `The call ${callId} of ${name} came to its end only now (${outcome}): ${typeof output === 'string' ? output : JSON.stringify(output)}`;
}

/** What stands for everything up to `throughSeq`. */
export function summaryPart({
  summary,
  throughSeq,
}: {
  readonly summary: string;
  readonly throughSeq: number;
}): TextPart {
  const text = `[Summary of the conversation up to here, in place of it; the log of the session keeps every word.]\n${summary.trim()}`;
  return { ...textPart(text), summarizesThroughSeq: throughSeq };
}
