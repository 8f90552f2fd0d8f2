/**
 * What a person is asked to allow, told the same wherever it is asked, answered or checked: what would run, where,
 * why, how far a yes reaches, until when.
 */
import type { SessionEventData } from '../../machines/session/session-event.ts';
import { exactLine, exactLines, oddities } from '../../machines/exact-text.ts';
import type { Styles } from '../terminal/styles.ts';
import { localTime, printable } from '../terminal/text.ts';
import { broken, wrapped } from '../terminal/text-width.ts';

export interface RequestTextOptions {
  readonly styles: Styles;
  /** Places of a line. */
  readonly width: number;
  /** Lines of the input. Default: all of them. */
  readonly maxLines?: number | undefined;
  /** How to see what is left out, as the end of a sentence. */
  readonly wayToAll?: string | undefined;
}

export interface PermissionTextOptions extends RequestTextOptions {
  readonly agentId: string;
}

type Requested = SessionEventData<'permission.requested'>;

export function permissionLines(data: Requested, options: PermissionTextOptions): string[] {
  const { styles, width } = options;
  const { because, expiresAt } = data;
  return [
    ...callLines(data, options),
    ...wrapped(`because ${exactLine(because.trim().replaceAll(/\s+/gu, ' '))}`, width).map((line) => styles.dim(line)),
    ...reachLines(data, options),
    ...(expiresAt === undefined
      ? []
      : wrapped(`until ${localTime(expiresAt)}; then the call is denied`, width).map((line) => styles.dim(line))),
  ];
}

/** What would run, and where. */
export function callLines({ input, cwd }: Pick<Requested, 'input' | 'cwd'>, options: RequestTextOptions): string[] {
  return [
    ...inputLines(input, options),
    ...(cwd === undefined
      ? []
      : markedLines(`in ${exactLine(cwd)}`, options.width).map((line) => options.styles.dim(line))),
  ];
}

/** What an approval for more than once would allow. */
export function reachLines(
  { rules = [] }: Pick<Requested, 'rules'>,
  { styles, width, agentId }: PermissionTextOptions,
): string[] {
  const lead =
    rules.length === 0
      ? 'it can be allowed once only: no rule would cover this and nothing else'
      : `"session" (in this session) and "always" (in every session of ${printable(agentId)}) would allow from then on:`;
  return [
    ...wrapped(lead, width).map((line) => styles.dim(line)),
    ...rules.flatMap((rule) => markedLines(exactLine(rule), width, '  ')),
  ];
}

/** What a client is to do, in full. */
export function inputLines(
  input: unknown,
  { styles, width, maxLines = Infinity, wayToAll }: RequestTextOptions,
): string[] {
  const { first, omitted, last, oddity } = requestLines(input, { width, maxLines });
  const cut = `… ${omitted} more lines, not shown${wayToAll === undefined ? '' : `; ${wayToAll}`} …`;
  return [
    ...first.map((line) => styles.bold(line)),
    ...(omitted === 0 ? [] : [styles.yellow(cut)]),
    ...last.map((line) => styles.bold(line)),
    ...(oddity === undefined ? [] : wrapped(oddity, width).map((line) => styles.yellow(line))),
  ];
}

// What a tool call would do, for the person who has to allow it: all of it, as it stands, with nothing hidden.

interface RequestLines {
  readonly first: readonly string[];
  /** How many lines between the first and the last are left out. */
  readonly omitted: number;
  /** Empty where nothing is left out. */
  readonly last: readonly string[];
  /** What is easily overlooked in it. */
  readonly oddity: string | undefined;
}

interface RequestLimits {
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
  const all = shownInput(input).flatMap((line) => markedLines(line, width, LINE_MARK));
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
function markedLines(line: string, width: number, mark = ''): string[] {
  return broken(line, Math.max(1, width - CONTINUATION_MARK.length)).map(
    (part, index) => `${index === 0 ? mark : CONTINUATION_MARK}${part}`,
  );
}

function shownInput(input: unknown): string[] {
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
