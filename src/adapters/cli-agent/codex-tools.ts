/** The tools that Codex runs, as its items tell them, and what they come to in terms of our own. */
import type { RunToolMeaning } from '../../actors/run/agent-runtime.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import type { BackendToolOutcome } from '../../machines/run/run-output.ts';
import type { CodexItem } from './codex-protocol.ts';
import type { CliFact } from './dialect.ts';
import { toolOutputText } from './tool-output.ts';

interface ToolKind {
  readonly name: (item: CodexItem) => string;
  readonly input: (item: CodexItem) => unknown;
  readonly output: (item: CodexItem) => unknown;
}

const TOOLS: Readonly<Record<string, ToolKind>> = {
  commandExecution: {
    name: () => 'command_execution',
    input: ({ command, cwd }) => ({ command: scriptOf(command ?? ''), ...(isText(cwd) ? { cwd } : {}) }),
    output: ({ aggregatedOutput, exitCode }) => ({
      output: aggregatedOutput ?? '',
      ...(typeof exitCode === 'number' ? { exitCode } : {}),
    }),
  },
  fileChange: {
    name: () => 'file_change',
    input: ({ changes = [] }) => ({ changes }),
    output: ({ status }) => status ?? 'completed',
  },
  mcpToolCall: {
    name: ({ server, tool }) => mcpName(server, tool),
    input: ({ arguments: given }) => given ?? {},
    output: ({ result, error }) => error?.message ?? toolOutputText(contentOf(result)),
  },
  dynamicToolCall: {
    name: ({ tool }) => tool ?? 'unknown',
    input: ({ arguments: given }) => given ?? {},
    output: ({ contentItems }) => toolOutputText(contentItems ?? ''),
  },
  // Its subagents: what they do themselves is told as items of theirs.
  collabAgentToolCall: {
    name: ({ tool }) => snakeCase(tool ?? 'unknown'),
    input: ({ prompt, receiverThreadIds }) => ({
      ...(isText(prompt) ? { prompt } : {}),
      agents: receiverThreadIds ?? [],
    }),
    output: ({ agentsStates }) => agentsStates ?? {},
  },
  webSearch: {
    name: () => 'web_search',
    input: ({ query }) => ({ query: query ?? '' }),
    output: () => 'The results were given to the model only.',
  },
  imageView: {
    name: () => 'view_image',
    input: ({ path }) => ({ path: path ?? '' }),
    output: () => 'The image was given to the model only.',
  },
};

/** Items that tell of nothing that was done. */
const NO_TOOLS: ReadonlySet<string> = new Set([
  'userMessage',
  'hookPrompt',
  'agentMessage',
  'functionCallOutput',
  'plan',
  'reasoning',
  'enteredReviewMode',
  'exitedReviewMode',
  'contextCompaction',
]);

const MAX_NAME_CHARACTERS = 200;

export function mcpName(server: string | null | undefined, tool: string | null | undefined): string {
  return `mcp__${server ?? 'unknown'}__${tool ?? 'unknown'}`;
}

/**
 * What this adapter does not know may have done anything: were it passed over, a failed turn would be asked for once
 * more.
 */
function unknownTool({ id: _id, type, status, ...input }: CodexItem): ToolKind {
  return {
    name: () => snakeCase(type) || 'unknown',
    input: () => input,
    output: () => status ?? 'completed',
  };
}

/** Anything else has not worked. */
const OUTCOMES: Readonly<Record<string, BackendToolOutcome>> = {
  completed: 'completed',
  declined: 'denied',
  interrupted: 'cancelled',
};

export interface CodexCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** Undefined for an item that is no tool. */
export function callOf(item: CodexItem, callId: string): CodexCall | undefined {
  const kind = kindOf(item);
  if (kind === undefined) return undefined;
  return { callId, name: beginningOf(kind.name(item), MAX_NAME_CHARACTERS), input: kind.input(item) };
}

/** Only what is over has surely run: what has to be asked for is told before it is. */
export function endOf(item: CodexItem, callId: string): readonly CliFact[] {
  const kind = kindOf(item);
  if (kind === undefined) return [];
  const outcome = OUTCOMES[item.status ?? 'completed'] ?? 'failed';
  const output = outcome === 'denied' ? 'It was not permitted.' : kind.output(item);
  return [
    ...(outcome === 'denied' ? [] : [{ kind: 'tool_started', callId } as const]),
    { kind: 'tool_ended', callId, outcome, output },
  ];
}

function kindOf(item: CodexItem): ToolKind | undefined {
  if (NO_TOOLS.has(item.type)) return undefined;
  return (Object.hasOwn(TOOLS, item.type) ? TOOLS[item.type] : undefined) ?? unknownTool(item);
}

/** Undefined where it cannot be told: then only a rule for the tool itself can allow it. */
export function meaningOf(item: CodexItem): RunToolMeaning | undefined {
  if (item.type === 'commandExecution')
    return isText(item.command)
      ? { kind: 'command', command: scriptOf(item.command), ...(isText(item.cwd) ? { cwd: item.cwd } : {}) }
      : undefined;
  return item.type === 'fileChange' ? changeMeaning(item.changes ?? []) : undefined;
}

/** One file that is written or changed is that; several, one that is deleted or one that moves are not told for sure. */
function changeMeaning(changes: NonNullable<CodexItem['changes']>): RunToolMeaning | undefined {
  const [first, ...others] = changes;
  if (first === undefined) return undefined;
  const { path, kind } = first;
  const isMoved = isText(kind?.move_path);
  if (others.length === 0 && kind?.type === 'add') return { kind: 'write', path };
  if (others.length === 0 && kind?.type === 'update' && !isMoved) return { kind: 'write', path, edits: true };
  const paths = changes.flatMap((change) => [
    change.path,
    ...(isText(change.kind?.move_path) ? [change.kind.move_path] : []),
  ]);
  return { kind: 'unclear', as: 'write', paths };
}

function contentOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'content' in result ? result.content : (result ?? '');
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

// The command in what Codex says that it runs: the script itself, without the shell that it is given to.

const SHELL = /^(?:.*\/)?(?:ba|z|da)?sh$/;
/** A bare piece, one in single quotes, or one in double quotes, at the place where reading goes on. */
const PIECE = /(?<bare>[\w@%+=:,./-]+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\`$]|\\["\\`$])*)"/y;

/** `/bin/bash -lc 'ls -l'` is `ls -l`. What cannot be read for sure stays as it is. */
function scriptOf(command: string): string {
  const [shell = '', flag = '', script, ...rest] = wordsOf(command) ?? [];
  return script !== undefined && rest.length === 0 && SHELL.test(shell) && /^-l?c$/.test(flag) ? script : command;
}

function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    if (text[at] === ' ') {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    PIECE.lastIndex = at;
    const found = PIECE.exec(text)?.groups;
    if (found === undefined) return undefined;
    const { bare, single, double } = found;
    word = (word ?? '') + (bare ?? single ?? double?.replaceAll(/\\(["\\`$])/g, '$1') ?? '');
    at = PIECE.lastIndex;
  }
  return word === undefined ? words : [...words, word];
}
