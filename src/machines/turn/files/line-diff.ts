/** What changed between two texts, line by line, as a unified diff without file names. */
import { cutText } from '../../cut-text.ts';
import { MAX_DIFF_CHARACTERS } from './file-limits.ts';

/** Lines around a change that are shown. */
const CONTEXT_LINES = 3;

/** Characters of a line that are shown. */
const MAX_SHOWN_LINE = 300;

/** Lines added and removed up to which the shortest difference is searched for; the work grows with its square. */
const MAX_CHANGES = 400;

/** Lines `[oldStart, oldEnd)` of the old text became `[newStart, newEnd)` of the new one. */
interface Change {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** At most `MAX_DIFF_CHARACTERS`, and a line that says when there is more. Empty when nothing changed. */
export function lineDiff(oldText: string, newText: string): string {
  // What both texts end with is no line of its own.
  const end = oldText.endsWith('\n') && newText.endsWith('\n') ? -1 : undefined;
  const before = oldText.slice(0, end).split('\n');
  const after = newText.slice(0, end).split('\n');
  const lines: string[] = [];
  let characters = 0;
  for (const hunk of hunksOf(changesBetween(before, after))) {
    for (const line of hunkLines(hunk, before, after)) {
      characters += line.length + 1;
      if (characters > MAX_DIFF_CHARACTERS) return [...lines, '[the rest of the difference is left out]'].join('\n');
      lines.push(line);
    }
  }
  return lines.join('\n');
}

/** Changes whose surroundings touch are shown together. */
function hunksOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && change.oldStart - last.oldEnd <= 2 * CONTEXT_LINES) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function* hunkLines(hunk: readonly Change[], before: readonly string[], after: readonly string[]): Generator<string> {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return;
  const lead = Math.min(CONTEXT_LINES, first.oldStart);
  const trail = Math.min(CONTEXT_LINES, before.length - last.oldEnd);
  const oldCount = last.oldEnd - first.oldStart + lead + trail;
  const newCount = last.newEnd - first.newStart + lead + trail;
  yield `@@ -${first.oldStart - lead + 1},${oldCount} +${first.newStart - lead + 1},${newCount} @@`;
  let at = first.oldStart - lead;
  for (const { oldStart, oldEnd, newStart, newEnd } of hunk) {
    for (; at < oldStart; at += 1) yield shown(' ', before[at]);
    for (; at < oldEnd; at += 1) yield shown('-', before[at]);
    for (let added = newStart; added < newEnd; added += 1) yield shown('+', after[added]);
  }
  for (const end = at + trail; at < end; at += 1) yield shown(' ', before[at]);
}

function shown(mark: string, line = ''): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return mark + cutText(text, MAX_SHOWN_LINE);
}

function changesBetween(before: readonly string[], after: readonly string[]): readonly Change[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let oldEnd = before.length;
  let newEnd = after.length;
  while (oldEnd > start && newEnd > start && before[oldEnd - 1] === after[newEnd - 1]) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  if (start === oldEnd && start === newEnd) return [];
  const trace = searchShortest(before.slice(start, oldEnd), after.slice(start, newEnd));
  if (trace === undefined) return [{ oldStart: start, oldEnd, newStart: start, newEnd }];
  return joined(walkBack(trace, oldEnd - start, newEnd - start)).map((change) => ({
    oldStart: change.oldStart + start,
    oldEnd: change.oldEnd + start,
    newStart: change.newStart + start,
    newEnd: change.newEnd + start,
  }));
}

/**
 * By the number of changes, how far into the old lines one comes on each diagonal (old position minus new position).
 */
type Trace = readonly ReadonlyMap<number, number>[];

/** The greedy search of Myers: with each change more, as far as equal lines carry. Undefined beyond `MAX_CHANGES`. */
function searchShortest(before: readonly string[], after: readonly string[]): Trace | undefined {
  const trace: Map<number, number>[] = [];
  for (let changes = 0; changes <= MAX_CHANGES; changes += 1) {
    const previous = trace.at(-1) ?? new Map([[1, 0]]);
    const reached = new Map<number, number>();
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let old = startOf(previous, diagonal, changes);
      while (old < before.length && old - diagonal < after.length && before[old] === after[old - diagonal]) old += 1;
      reached.set(diagonal, old);
      if (old >= before.length && old - diagonal >= after.length) return [...trace, reached];
    }
    trace.push(reached);
  }
  return undefined;
}

function startOf(previous: ReadonlyMap<number, number>, diagonal: number, changes: number): number {
  const below = previous.get(diagonal - 1) ?? -1;
  const above = previous.get(diagonal + 1) ?? -1;
  return diagonal === -changes || (diagonal !== changes && below < above) ? above : below + 1;
}

/** The single changes that led to the end, first to last. */
function walkBack(trace: Trace, oldLength: number, newLength: number): readonly Change[] {
  const changes: Change[] = [];
  let old = oldLength;
  let diagonal = oldLength - newLength;
  for (let count = trace.length - 1; count > 0; count -= 1) {
    const previous = trace[count - 1] ?? new Map<number, number>();
    const isAddition =
      diagonal === -count ||
      (diagonal !== count && (previous.get(diagonal - 1) ?? -1) < (previous.get(diagonal + 1) ?? -1));
    diagonal += isAddition ? 1 : -1;
    old = previous.get(diagonal) ?? 0;
    const at = old - diagonal;
    changes.push(
      isAddition
        ? { oldStart: old, oldEnd: old, newStart: at, newEnd: at + 1 }
        : { oldStart: old, oldEnd: old + 1, newStart: at, newEnd: at },
    );
  }
  return changes.reverse();
}

function joined(changes: readonly Change[]): readonly Change[] {
  const result: Change[] = [];
  for (const change of changes) {
    const last = result.at(-1);
    if (last?.oldEnd === change.oldStart && last.newEnd === change.newStart)
      result[result.length - 1] = { ...last, oldEnd: change.oldEnd, newEnd: change.newEnd };
    else result.push(change);
  }
  return result;
}
