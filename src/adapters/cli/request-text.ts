/** What a tool call would do, for whoever has to allow it: all of it, as it stands, with nothing hidden. */
import { exactLine, exactLines, oddities } from './exact-text.ts';
import { broken } from './text-width.ts';

export interface RequestLines {
  readonly lines: readonly string[];
  /** How many more there are. */
  readonly omitted: number;
  /** What is easily overlooked in it. */
  readonly oddity: string | undefined;
}

export interface RequestLimits {
  /** Places of a line. */
  readonly width: number;
  readonly maxLines: number;
}

/** The command of a shell tool as it stands, the fields of any other. */
export function requestLines(input: unknown, { width, maxLines }: RequestLimits): RequestLines {
  const all = inputLines(input).flatMap((line) => broken(line, width));
  const lines = all.slice(0, maxLines);
  return { lines, omitted: all.length - lines.length, oddity: oddities(textOf(input)) };
}

function inputLines(input: unknown): string[] {
  if (typeof input === 'string') return exactLines(input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [exactLine(JSON.stringify(input) ?? '')];
  const { command, ...rest } = input as Readonly<Record<string, unknown>>;
  return [...(command === undefined ? [] : fieldLines(undefined, command)), ...Object.entries(rest).flatMap(([name, value]) => fieldLines(name, value))];
}

function fieldLines(name: string | undefined, value: unknown): string[] {
  const lines = exactLines(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  if (name === undefined) return lines;
  const [only = ''] = lines;
  return lines.length === 1 ? [`${exactLine(name)}: ${only}`] : [`${exactLine(name)}:`, ...lines.map((line) => `  ${line}`)];
}

/** Every text in it, with the names of fields. */
function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null) return '';
  return Object.entries(input).map(([name, value]) => `${Array.isArray(input) ? '' : name}${textOf(value)}`).join('');
}
