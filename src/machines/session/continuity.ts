/**
 * Where a session stands, as text for whoever reads its folder: people, and the agent itself after its context is gone. Rendered from the
 * folded state and the newest events; nothing is ever read back from it.
 */
import { counted } from '../inspection/markdown.ts';
import { utf8Length } from '../utf8.ts';
import type { SessionEvent } from './session-event.ts';
import type { PendingAction, PendingIngress, QueuedWake, SessionState } from './session-state.ts';

/** Bytes of the working buffer in UTF-8. */
export const MAX_WORKING_BUFFER_BYTES = 16_000;

/** Messages, of whoever wrote them, that the working buffer goes back to. */
const MAX_BUFFER_MESSAGES = 20;

const MAX_MESSAGE_CHARACTERS_SHOWN = 1_200;
const MAX_LINE_CHARACTERS = 200;
/** Entries of one list. */
const MAX_ENTRIES = 50;

/** What the session is and what it waits for. */
export function renderSessionState(state: SessionState): string {
  const lines = [
    `# Session ${state.sessionId}`,
    '',
    `- Agent: ${state.agentId}`,
    ...optionalLine('Title', state.title),
    `- Status: ${state.status}${state.stopReason === undefined ? '' : ` (${state.stopReason})`}`,
    ...optionalLine('Summary', state.summary),
    ...optionalLine('Outcome wanted', state.outcome?.title),
    ...optionalLine('Parked', state.parked?.reason),
    ...optionalLine('Created', state.createdAt),
    ...optionalLine('Last event', state.updatedAt),
    `- Log: ${state.head} events, epoch ${state.epoch}`,
    `- So far: ${counted(state.messages, 'message')}, ${counted(state.wakes, 'wake')}, ${counted(state.modelSteps, 'model step')}`,
    ...wakeLines(state),
    ...section('Waiting to be read', state.pending, pendingLine),
    ...section('Waiting for somebody outside', state.pendingActions, actionLine),
    ...section('Queued wakes', state.queuedWakes.toSorted((one, other) => (one.dueAt < other.dueAt ? -1 : 1)), queuedLine),
    ...section('Tool calls without a result', state.openToolCalls, ({ name, callId, phase }) => `${name} (${callId}): ${phase}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The newest exchanges, the last one at the end, in at most MAX_WORKING_BUFFER_BYTES. `recent` ends with the last event of the state. */
export function renderWorkingBuffer(state: SessionState, recent: readonly SessionEvent[]): string {
  const pending = new Set(state.pending.map(({ eventId }) => eventId));
  const entries: string[] = [];
  let messages = 0;
  for (const event of recent.toReversed()) {
    const entry = entryOf(event, pending);
    if (entry === undefined) continue;
    if (isMessage(event)) messages += 1;
    if (messages > MAX_BUFFER_MESSAGES) break;
    entries.push(entry);
  }
  const head = `# Working buffer\n\nThe newest exchanges of session ${state.sessionId}, up to event ${state.head}. What is not here is in the log.\n`;
  return `${head}${fitting(entries, MAX_WORKING_BUFFER_BYTES - utf8Length(head)).toReversed().join('')}`;
}

function wakeLines({ openWake, lastWake }: SessionState): string[] {
  const lines: string[] = [];
  if (openWake !== undefined) lines.push(`- Running: wake ${openWake.wakeId}, epoch ${openWake.epoch}, since ${openWake.startedAt}, by ${oneLine(openWake.owner)}`);
  if (lastWake === undefined) return lines;
  lines.push(`- Last wake: ${lastWake.wakeId}, epoch ${lastWake.epoch}, ended ${lastWake.endedAt}: ${lastWake.outcome}`);
  if (lastWake.error !== undefined) lines.push(`- Last error: ${oneLine(lastWake.error.message)} [${oneLine(lastWake.error.code)}]`);
  if (lastWake.retryAt !== undefined) lines.push(`- Tried again by itself: not before ${lastWake.retryAt}`);
  return lines;
}

function pendingLine({ type, eventId, seq }: PendingIngress): string {
  return `${type} ${eventId} (event ${seq})`;
}

function actionLine({ kind, toolName, requestId, question }: PendingAction): string {
  return `${kind} ${oneLine(toolName)} (request ${oneLine(requestId)})${question === undefined ? '' : `: ${oneLine(question)}`}`;
}

function queuedLine({ dueAt, priority, reason, note }: QueuedWake): string {
  return `${dueAt}, ${priority}: ${oneLine(reason)}${note === undefined ? '' : ` (${oneLine(note)})`}`;
}

/** An event as a part of the working buffer; undefined for one that nobody needs there. */
function entryOf(event: SessionEvent, pending: ReadonlySet<string>): string | undefined {
  // What the log keeps for machines is left to the log.
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check
  switch (event.type) {
    case 'user.message':
      return paragraph(`User, event ${event.seq}${pending.has(event.id) ? ', not read yet' : ''}`, event.data.text);
    case 'agent.message':
      return paragraph(`Agent, event ${event.seq}`, event.data.text);
    case 'user.custom_tool_result':
      return paragraph(`Answer to ${oneLine(event.data.toolName)}, event ${event.seq}${pending.has(event.id) ? ', not read yet' : ''}`, textOf(event.data.output));
    case 'user.answer':
      return paragraph(`Answer, event ${event.seq}`, event.data.response);
    case 'agent.tool_use':
      return `\n- Tool call ${oneLine(event.data.name)} (${oneLine(event.data.callId)}): ${oneLine(textOf(event.data.input))}\n`;
    case 'agent.tool_result':
      return `\n- Result of ${oneLine(event.data.name)} (${oneLine(event.data.callId)}), ${event.data.outcome}: ${oneLine(textOf(event.data.output))}\n`;
    case 'directive.accepted':
      return `\n- Said what comes next: ${event.data.directive.outcome}, ${oneLine(event.data.directive.summary)}\n`;
    case 'wake.ended':
      return `\n- Wake ${oneLine(event.data.wakeId)} ended: ${event.data.outcome}\n`;
    default:
      return undefined;
  }
}

function isMessage({ type }: SessionEvent): boolean {
  return type === 'user.message' || type === 'agent.message' || type === 'user.custom_tool_result' || type === 'user.answer';
}

/** A heading and the text under it, set off so that nothing in the text can be taken for a heading of ours. */
function paragraph(heading: string, text: string): string {
  const shown = shortened(text, MAX_MESSAGE_CHARACTERS_SHOWN);
  return `\n## ${heading}\n\n${shown.replaceAll(/^/gm, '> ')}\n`;
}

/** As many of `entries` as fit, from the first on. Each is bounded to much less than all. */
function fitting(entries: readonly string[], maxBytes: number): string[] {
  const kept: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    bytes += utf8Length(entry);
    if (bytes > maxBytes) break;
    kept.push(entry);
  }
  return kept;
}

function section<Entry>(title: string, entries: readonly Entry[], line: (entry: Entry) => string): string[] {
  if (entries.length === 0) return [];
  const more = entries.length > MAX_ENTRIES ? [`- and ${entries.length - MAX_ENTRIES} more`] : [];
  return ['', `## ${title}`, '', ...entries.slice(0, MAX_ENTRIES).map((entry) => `- ${line(entry)}`), ...more];
}

function optionalLine(name: string, value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [`- ${name}: ${oneLine(value)}`];
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'output' in value && typeof value.output === 'string') return value.output;
  return JSON.stringify(value) ?? '';
}

/** Without line breaks and other characters that a terminal or a Markdown list would act upon. */
function oneLine(text: string): string {
  return shortened(text.slice(0, MAX_LINE_CHARACTERS * 4).replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_LINE_CHARACTERS);
}

function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const kept = text.slice(0, maxCharacters);
  // A pair of surrogates is one character.
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}… (${text.length - kept.length} more characters)`;
}
