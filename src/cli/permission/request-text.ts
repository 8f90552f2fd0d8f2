/** What a tool call would do, for the person who has to allow it: all of it, as it stands, with nothing hidden. */
import { exactLine, exactLines, oddities } from '../../machines/exact-text.ts';
import { broken } from '../terminal/text-width.ts';

export interface RequestLines {
  readonly first: readonly string[];
  /** How many lines between the first and the last are left out. */
  readonly omitted: number;
  /** Empty where nothing is left out. */
  readonly last: readonly string[];
  /** What is easily overlooked in it. */
  readonly oddity: string | undefined;
}

export interface RequestLimits {
  /** Places of a line. */
  readonly width: number;
  /** Where there are more, the two ends are shown: what is dangerous may stand at either of them. */
  readonly maxLines: number;
}

/**
 * What lines begin with, so that nothing in them passes for what stands around them, nor the rest of a long line for a
 * line of its own.
 */
const LINE_MARK = '│ ';
const CONTINUATION_MARK = '↪ ';

/** The command of a shell tool as it stands, the fields of any other. */
export function requestLines(input: unknown, { width, maxLines }: RequestLimits): RequestLines {
  const all = inputLines(input).flatMap((line) => markedLines(line, width, LINE_MARK));
  const oddity = oddities(textOf(input));
  if (all.length <= maxLines) return { first: all, omitted: 0, last: [], oddity };
  const head = Math.ceil(maxLines / 2);
  return {
    first: all.slice(0, head),
    omitted: all.length - maxLines,
    last: all.slice(all.length - (maxLines - head)),
    oddity,
  };
}

/** `line` in parts that fit. Each part after the first says that it goes on with the one before. */
export function markedLines(line: string, width: number, mark = ''): string[] {
  return broken(line, Math.max(1, width - CONTINUATION_MARK.length)).map(
    (part, index) => `${index === 0 ? mark : CONTINUATION_MARK}${part}`,
  );
}

function inputLines(input: unknown): string[] {
  if (typeof input === 'string') return exactLines(input);
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [exactLine(JSON.stringify(input) ?? '')];
  const fields = Object.entries(input);
  const [only] = fields;
  // Beside other fields a command could pretend to be one of them.
  if (fields.length === 1 && only?.[0] === 'command') return valueLines(only[1]);
  return fields.flatMap(([name, value]) => fieldLines(name, value));
}

function fieldLines(name: string, value: unknown): string[] {
  const lines = valueLines(value);
  const [only = ''] = lines;
  return lines.length === 1
    ? [`${exactLine(name)}: ${only}`]
    : [`${exactLine(name)}:`, ...lines.map((line) => `  ${line}`)];
}

function valueLines(value: unknown): string[] {
  return exactLines(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/** Every text in it, with the names of fields. */
function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null) return '';
  return Object.entries(input)
    .map(([name, value]) => `${Array.isArray(input) ? '' : name}${textOf(value)}`)
    .join('');
}
