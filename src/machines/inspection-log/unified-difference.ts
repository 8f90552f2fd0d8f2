/** A unified difference, file by file, line by line, with the numbers that the lines have before and after. */

export type LineKind = 'same' | 'added' | 'removed' | 'place' | 'note';

export interface DifferenceLine {
  readonly kind: LineKind;
  readonly text: string;
  /** Numbers of the line in the file before and after; absent where it is not in it. */
  readonly before?: number;
  readonly after?: number;
}

export interface DifferenceFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** At most `MAX_LINES`. */
  readonly lines: readonly DifferenceLine[];
  /** How many more there are. */
  readonly omitted: number;
}

/** Lines of one file that are kept. */
export const MAX_LINES = 1_500;
const MAX_FILES = 300;
/** Of all files together; with their numbers, lines take more space than as a text. */
const MAX_LINES_IN_ALL = 20_000;
const PLACE = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

interface Reading {
  path: string;
  added: number;
  removed: number;
  omitted: number;
  readonly lines: DifferenceLine[];
  before: number;
  after: number;
  /** Lines that the place still has, before and after: only within them do signs at the beginning mean anything. */
  leftBefore: number;
  leftAfter: number;
}

export function filesOfDifference(difference: string): readonly DifferenceFile[] {
  const files: Reading[] = [];
  let file: Reading | undefined;
  for (const line of difference.split('\n')) {
    const isInside = file !== undefined && (file.leftBefore > 0 || file.leftAfter > 0);
    if (!isInside && line.startsWith('diff --git ')) {
      if (files.length >= MAX_FILES) break;
      file = begun(pathOfHeader(line));
      files.push(file);
    } else if (file === undefined) {
      if (!line.startsWith('--- ') && !line.startsWith('+++ ') && !PLACE.test(line)) continue;
      file = begun('');
      files.push(file);
      readLine(file, line, false);
    } else readLine(file, line, isInside);
  }
  let left = MAX_LINES_IN_ALL;
  return files.map(({ path, added, removed, lines, omitted }) => {
    const kept = lines.slice(0, left);
    left -= kept.length;
    return { path, added, removed, lines: kept, omitted: omitted + lines.length - kept.length };
  });
}

function begun(path: string): Reading {
  return { path, added: 0, removed: 0, omitted: 0, lines: [], before: 0, after: 0, leftBefore: 0, leftAfter: 0 };
}

/** Where both names are the same, as they are unless a file was renamed, the second half of the rest is the name. */
function pathOfHeader(line: string): string {
  const rest = line.slice('diff --git '.length);
  const same = /^a\/(.*) b\/\1$/s.exec(rest) ?? /^"a\/(.*)" "b\/\1"$/s.exec(rest);
  return same?.[1] ?? unquoted(rest.slice(rest.lastIndexOf(' b/') + 1));
}

function readLine(file: Reading, line: string, isInside: boolean): void {
  if (isInside) return readInside(file, line);
  const place = PLACE.exec(line);
  if (place !== null) {
    [file.before, file.after] = [Number(place[1]), Number(place[3])];
    [file.leftBefore, file.leftAfter] = [Number(place[2] ?? 1), Number(place[4] ?? 1)];
    keep(file, { kind: 'place', text: line });
  } else if (line.startsWith('+++ ')) {
    if (line !== '+++ /dev/null') file.path = unquoted(line.slice(4));
  } else if (line.startsWith('--- ')) {
    if (file.path === '') file.path = unquoted(line.slice(4));
  } else if (
    /^(?:rename|copy|new file|deleted file|old mode|new mode|Binary files|similarity|GIT binary)/.test(line) ||
    line.startsWith('\\')
  )
    keep(file, { kind: 'note', text: line });
}

function readInside(file: Reading, line: string): void {
  const text = line.slice(1);
  if (line.startsWith('+')) {
    keep(file, { kind: 'added', text, after: file.after });
    file.added += 1;
    file.after += 1;
    file.leftAfter -= 1;
  } else if (line.startsWith('-')) {
    keep(file, { kind: 'removed', text, before: file.before });
    file.removed += 1;
    file.before += 1;
    file.leftBefore -= 1;
  } else if (line.startsWith('\\')) keep(file, { kind: 'note', text: line });
  else {
    keep(file, { kind: 'same', text, before: file.before, after: file.after });
    file.before += 1;
    file.after += 1;
    file.leftBefore -= 1;
    file.leftAfter -= 1;
  }
}

function keep(file: Reading, line: DifferenceLine): void {
  if (file.lines.length < MAX_LINES) file.lines.push(line);
  else file.omitted += 1;
}

function unquoted(path: string): string {
  const bare = path.replace(/\t$/, '').replace(/^"(.*)"$/, '$1');
  return bare.replace(/^[ab]\//, '');
}
