/**
 * What is worth finding of a tool call: what it was told in a few words, how it ended, and the telling lines of what it
 * put out.
 */
import { beginningOf } from '../cut-text.ts';
import { bounded } from './retrieval-document.ts';

const MAX_TITLE_CHARACTERS = 240;
const MAX_INPUT_CHARACTERS = 300;
const MAX_LINE_CHARACTERS = 240;
const MAX_OUTPUT_CHARACTERS = 800;
const FIRST_LINES = 6;
const TROUBLED_LINES = 6;
const LAST_LINES = 2;

/** Lines of a large output that are checked, from its beginning and from its end. */
const SCANNED_CHARACTERS = 40_000;
const MAX_DEPTH = 6;
const MAX_PIECES = 400;

/** Inputs that say what a call is about, the most telling first. */
const SUBJECTS = ['command', 'path', 'file', 'url', 'pattern', 'query', 'name', 'title', 'message', 'text'];

const TROUBLE =
  /error|fail|exception|denied|refused|fatal|panic|warning|not found|no such|timed? ?out|cannot|unable|invalid|\bE[A-Z]{4,}\b/i;

export interface CallWords {
  /** The tool and what it was given, such as `shell_run: npm test`. */
  readonly title: string;
  /** The rest of its input that is text, the beginning of it. */
  readonly input: string;
}

export function callWords(tool: string, input: unknown): CallWords {
  if (typeof input !== 'object' || input === null)
    return {
      title: bounded(input === undefined ? tool : `${tool}: ${JSON.stringify(input)}`, MAX_TITLE_CHARACTERS),
      input: '',
    };
  const fields: readonly (readonly [string, unknown])[] = Object.entries(input);
  const named = SUBJECTS.flatMap((name) =>
    fields.filter(([key, value]) => key === name && typeof value === 'string'),
  )[0];
  const rest = fields.filter((field) => field !== named).flatMap(([, value]) => piecesOf(value));
  const title = named === undefined ? tool : `${tool}: ${oneLine(String(named[1]))}`;
  return { title: bounded(title, MAX_TITLE_CHARACTERS), input: bounded(oneLine(rest.join(' ')), MAX_INPUT_CHARACTERS) };
}

/** Its first lines, those that tell of trouble, and its last ones: in the order in which they came. */
export function outputWords(output: unknown): string {
  const text = piecesOf(output).join('\n');
  const scanned =
    text.length <= 2 * SCANNED_CHARACTERS
      ? text
      : `${beginningOf(text, SCANNED_CHARACTERS)}\n${text.slice(-SCANNED_CHARACTERS)}`;
  const lines = scanned
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const wanted = new Set<number>();
  for (let index = 0; index < Math.min(FIRST_LINES, lines.length); index += 1) wanted.add(index);
  for (const index of troubledLines(lines)) wanted.add(index);
  for (let index = Math.max(0, lines.length - LAST_LINES); index < lines.length; index += 1) wanted.add(index);
  const chosen = [...wanted]
    .sort((one, other) => one - other)
    .map((index) => bounded(lines[index] ?? '', MAX_LINE_CHARACTERS));
  return bounded(chosen.join('\n'), MAX_OUTPUT_CHARACTERS);
}

function troubledLines(lines: readonly string[]): number[] {
  const found: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (found.length >= TROUBLED_LINES) break;
    if (TROUBLE.test(beginningOf(line, MAX_LINE_CHARACTERS))) found.push(index);
  }
  return found;
}

/** Every text in a JSON value; a number or a truth value comes with its name, which is what people ask for. */
function piecesOf(value: unknown): string[] {
  const pieces: string[] = [];
  const open: { readonly value: unknown; readonly name: string; readonly depth: number }[] = [
    { value, name: '', depth: 0 },
  ];
  while (open.length > 0 && pieces.length < MAX_PIECES) {
    const next = open.pop();
    if (next === undefined) break;
    const { value: each, name, depth } = next;
    if (typeof each === 'string') pieces.push(each);
    else if (typeof each === 'number' || typeof each === 'boolean')
      pieces.push(name === '' ? String(each) : `${name} ${String(each)}`);
    else if (typeof each === 'object' && each !== null && depth < MAX_DEPTH) {
      const children: readonly (readonly [string, unknown])[] = Object.entries(each).slice(0, MAX_PIECES);
      open.push(
        ...children
          .map(([key, child]) => ({ value: child, name: Array.isArray(each) ? name : key, depth: depth + 1 }))
          .reverse(),
      );
    }
  }
  return pieces;
}

function oneLine(text: string): string {
  return text
    .slice(0, 4 * MAX_TITLE_CHARACTERS)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
