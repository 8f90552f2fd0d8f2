/**
 * The shells of a session, the commands that it ran last and what the last one put out. Of variables the names, never
 * the values.
 */
import type { SessionEvent } from '../session/session-event.ts';
import type { ShellHistoryEntry } from '../turn/shell/shell-results.ts';
import { joined, jsonArtifact, oneLine, table, textArtifact } from './artifact.ts';
import type { Artifact } from './artifact.ts';

export interface ShownShell {
  readonly shell: string;
  readonly open: boolean;
  /** Why it is not open any more. */
  readonly ended?: string | undefined;
  /** Absolute. */
  readonly cwd?: string | undefined;
  /** Names only. */
  readonly variables: readonly string[];
  /** Oldest first. */
  readonly entries: readonly ShellHistoryEntry[];
}

export interface RecentCommand {
  /** The event that asked for it. */
  readonly seq: number;
  /** ISO-8601. */
  readonly at: string;
  readonly callId: string;
  readonly tool: string;
  readonly shell?: string | undefined;
  readonly command: string;
  readonly outcome?: string | undefined;
  readonly exitCode?: number | undefined;
}

export interface LastOutput {
  readonly seq: number;
  readonly tool: string;
  readonly text: string;
  /** The file that holds all of it. */
  readonly kept?: string | undefined;
}

/** What the end of a log says of shells. */
export interface ShellTail {
  readonly commands: readonly RecentCommand[];
  readonly lastOutput?: LastOutput | undefined;
}

/** Characters of what the last command put out: its end is what tells most. */
const MAX_OUTPUT_CHARACTERS = 64_000;

/** Takes in a command, and how it ended. @returns the same list when the event is about neither */
export function commandOf(
  commands: readonly RecentCommand[],
  { seq, at, type, data }: SessionEvent,
): readonly RecentCommand[] {
  if (type === 'agent.tool_use') {
    const command = stringIn(data.input, 'command');
    if (!data.name.startsWith('shell_') || command === undefined) return commands;
    const shell = stringIn(data.input, 'shell');
    return [
      ...commands,
      {
        seq,
        at,
        callId: data.callId,
        tool: data.name,
        ...(shell === undefined ? {} : { shell }),
        command: oneLine(command),
      },
    ];
  }
  if (type !== 'agent.tool_result' || !data.name.startsWith('shell_')) return commands;
  const index = commands.findLastIndex(({ callId }) => callId === data.callId);
  const asked = commands[index];
  if (asked === undefined) return commands;
  const exitCode = fieldOf(data.output, 'exitCode');
  return commands.with(index, {
    ...asked,
    outcome: data.outcome,
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
  });
}

/** The newest output of a shell tool. */
export function outputOf(last: LastOutput | undefined, { seq, type, data }: SessionEvent): LastOutput | undefined {
  if (type !== 'agent.tool_result' || !data.name.startsWith('shell_')) return last;
  const text = stringIn(data.output, 'output');
  if (text === undefined) return last;
  const kept = data.kept?.path ?? stringIn(data.output, 'outputFile');
  return {
    seq,
    tool: data.name,
    text: text.length > MAX_OUTPUT_CHARACTERS ? `[…]\n${text.slice(-MAX_OUTPUT_CHARACTERS)}` : text,
    ...(kept === undefined ? {} : { kept }),
  };
}

export function shellArtifacts(
  shells: readonly ShownShell[] | undefined,
  { commands, lastOutput }: ShellTail,
): readonly Artifact[] {
  const open = (shells ?? []).map((shown) => [shown.shell, stateText(shown), shown.cwd ?? '', joined(shown.variables)]);
  const history = (shells ?? []).flatMap(({ shell, entries }) =>
    entries
      .slice(-20)
      .map(({ command, startedAt, status, exitCode }) => [
        startedAt,
        shell,
        command,
        exitCode === undefined ? status : String(exitCode),
      ]),
  );
  const recent = commands.map(({ seq, tool, shell, command, outcome, exitCode }) => [
    String(seq),
    shell ?? tool,
    command,
    exitCode === undefined ? (outcome ?? 'running') : String(exitCode),
  ]);
  const isKnown = shells !== undefined;
  return [
    jsonArtifact('shells', { ...(isKnown ? { shells } : {}), recentCommands: commands }),
    textArtifact(
      'shells',
      'Shells',
      open.length === 0
        ? isKnown
          ? 'No shell is open.'
          : ''
        : table(['shell', 'state', 'folder', 'variables set'], open),
      history.length === 0 ? '' : '## History',
      table(['at', 'shell', 'command', 'exit code'], history),
      recent.length === 0 ? 'No command was run lately.' : '## Commands run last',
      table(['event', 'shell', 'command', 'exit code'], recent),
    ),
    ...(lastOutput === undefined ? [] : [{ name: 'last-shell-output.txt', text: lastOutputText(lastOutput) }]),
  ];
}

function lastOutputText({ seq, tool, text, kept }: LastOutput): string {
  const head = `[${tool}, event ${seq}${kept === undefined ? '' : `; all of it is in ${kept}`}]`;
  return `${head}\n${text}${text.endsWith('\n') ? '' : '\n'}`;
}

function stringIn(value: unknown, key: string): string | undefined {
  const found = fieldOf(value, key);
  return typeof found === 'string' ? found : undefined;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function stateText({ open, ended, entries }: ShownShell): string {
  if (!open) return ended === undefined ? 'ended' : `ended: ${ended}`;
  return entries.at(-1)?.status === 'running' ? 'busy' : 'idle';
}
