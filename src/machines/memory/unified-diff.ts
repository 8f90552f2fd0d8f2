/** How two texts differ, line by line, as `diff -u` says it, with a bound. */

const CONTEXT_LINES = 3;

/** How many lines may differ before it is only said that they do: the work grows with its square. */
const MAX_EDITS = 600;

export interface DiffOptions {
  readonly path: string;
  /** Undefined: there was no such file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly maxCharacters: number;
}

type Step = { readonly kind: ' ' | '-' | '+'; readonly text: string; readonly before: number; readonly after: number };

/** Empty when they are the same. */
export function unifiedDiff({ path, before, after, maxCharacters }: DiffOptions): string {
  if (before === after) return '';
  const heading = `--- ${before === undefined ? '/dev/null' : `a/${path}`}\n+++ ${after === undefined ? '/dev/null' : `b/${path}`}\n`;
  const [old, now] = [linesOf(before ?? ''), linesOf(after ?? '')];
  const steps = stepsBetween(old, now);
  if (steps === undefined)
    return `${heading}@@ more than ${MAX_EDITS} lines differ: ${old.length} lines before, ${now.length} after @@\n`;
  const text = heading + hunksOf(steps).map(hunkText).join('');
  return text.length <= maxCharacters
    ? text
    : `${text.slice(0, text.lastIndexOf('\n', maxCharacters) + 1)}… ${text.length - maxCharacters} characters more\n`;
}

/** With their ends, so that a missing last one shows. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function stepsBetween(old: readonly string[], now: readonly string[]): Step[] | undefined {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let tail = 0;
  while (
    tail < old.length - start &&
    tail < now.length - start &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail += 1;
  const edits = editsBetween(old.slice(start, old.length - tail), now.slice(start, now.length - tail));
  if (edits === undefined) return undefined;
  const kinds = [
    ...Array.from({ length: start }, () => ' ' as const),
    ...edits,
    ...Array.from({ length: tail }, () => ' ' as const),
  ];
  let [before, after] = [0, 0];
  return kinds.map((kind): Step => {
    const step = { kind, text: (kind === '+' ? now[after] : old[before]) ?? '', before, after };
    if (kind !== '+') before += 1;
    if (kind !== '-') after += 1;
    return step;
  });
}

/**
 * The shortest way from one to the other (Myers): how far each diagonal gets with so many edits, kept for every number
 * of them.
 */
function editsBetween(old: readonly string[], now: readonly string[]): Step['kind'][] | undefined {
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(MAX_EDITS, old.length + now.length); edits += 1) {
    trace.push(new Map([...furthest].filter(([diagonal]) => Math.abs(diagonal) <= edits + 1)));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = cameDown(furthest, diagonal, edits)
        ? (furthest.get(diagonal + 1) ?? 0)
        : (furthest.get(diagonal - 1) ?? 0) + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return wayBack(trace, old.length, now.length);
    }
  }
  return undefined;
}

function cameDown(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  return (
    diagonal === -edits ||
    (diagonal !== edits && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1))
  );
}

function wayBack(trace: readonly ReadonlyMap<number, number>[], oldLength: number, nowLength: number): Step['kind'][] {
  const kinds: Step['kind'][] = [];
  let [x, y] = [oldLength, nowLength];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const isDown = cameDown(furthest, diagonal, edits);
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const [beforeX, beforeY] = edits === 0 ? [0, 0] : [furthest.get(from) ?? 0, (furthest.get(from) ?? 0) - from];
    for (; x > beforeX && y > beforeY; x -= 1, y -= 1) kinds.push(' ');
    if (edits > 0) kinds.push(isDown ? '+' : '-');
    [x, y] = [beforeX, beforeY];
  }
  return kinds.toReversed();
}

function hunksOf(steps: readonly Step[]): (readonly Step[])[] {
  const hunks: (readonly Step[])[] = [];
  let [from, to] = [-1, -1];
  for (const [index, { kind }] of steps.entries()) {
    if (kind === ' ') continue;
    if (to >= 0 && index - CONTEXT_LINES > to) {
      hunks.push(steps.slice(from, to));
      from = -1;
    }
    if (from < 0) from = Math.max(0, index - CONTEXT_LINES);
    to = Math.min(steps.length, index + 1 + CONTEXT_LINES);
  }
  return to < 0 ? hunks : [...hunks, steps.slice(from, to)];
}

function hunkText(hunk: readonly Step[]): string {
  const [first] = hunk;
  const count = (without: Step['kind']): number => hunk.filter(({ kind }) => kind !== without).length;
  const range = (start: number, length: number): string => `${length === 0 ? start : start + 1},${length}`;
  const lines = hunk.map(
    ({ kind, text }) => `${kind}${text}${text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`,
  );
  return `@@ -${range(first?.before ?? 0, count('+'))} +${range(first?.after ?? 0, count('-'))} @@\n${lines.join('')}`;
}
