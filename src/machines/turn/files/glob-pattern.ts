/**
 * Patterns for paths: names with wildcards, `**` for any folders, `{a,b}` for one or the other. Read step by step while
 * a tree is walked.
 */
import { RuntimeError } from '../../errors.ts';
import { matchesName, parseNamePattern } from '../../glob-name.ts';
import type { NamePattern } from '../../glob-name.ts';
import { ANY_FOLDERS, after, startOf } from '../../glob-steps.ts';
import type { GlobPath, GlobPositions, GlobReading } from '../../glob-steps.ts';
import { MAX_GLOB_ALTERNATIVES } from './file-limits.ts';

/**
 * For each way to read the pattern, the segments that may come next. Nothing left anywhere means that no path below can
 * match.
 */
export type GlobProgress = readonly GlobPositions[];

/** A pattern as a path of segments, without alternatives: braces are literal. */
export function parseGlobPath(pattern: string): GlobPath {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.map((segment) => (segment === ANY_FOLDERS ? ANY_FOLDERS : parseNamePattern(segment)));
}

/** @throws RuntimeError PATTERN_INVALID */
export function parseGlob(pattern: string): readonly GlobPath[] {
  if (pattern.startsWith('/'))
    throw invalidGlob(
      pattern,
      'expected a pattern that does not begin with a slash',
      'Give the folder as path, and the pattern from there.',
    );
  if (/(?<!\\)[!@+?*]\(/.test(pattern))
    throw invalidGlob(
      pattern,
      'extended patterns such as !(a) or @(a|b) are not understood',
      'Use {a,b}, or more than one call.',
    );
  const alternatives = expandBraces(pattern);
  if (alternatives.some((alternative) => alternative.split('/').includes('..'))) {
    throw invalidGlob(
      pattern,
      'expected a pattern without ".."',
      'Give the folder as path, and the pattern from there.',
    );
  }
  const paths = alternatives.map(parseGlobPath);
  if (paths.some(({ length }) => length === 0))
    throw invalidGlob(pattern, 'expected a pattern that names something', 'Use "**" for every file.');
  return paths;
}

export function startGlob(paths: readonly GlobPath[]): GlobProgress {
  return paths.map((path) => startOf(path, { meansFolder: false }));
}

export interface GlobStep {
  readonly name: string;
  /** Whether wildcards stand for names that begin with a dot. */
  readonly includeHidden: boolean;
}

/** What may come after a file or folder of this name. */
export function stepGlob(paths: readonly GlobPath[], progress: GlobProgress, step: GlobStep): GlobProgress {
  const reading = readingOf(step);
  return paths.map((path, index) => after(path, progress[index] ?? NOWHERE, step.name, reading));
}

/** Whether the names so far make a path that matches. */
export function isMatched(paths: readonly GlobPath[], progress: GlobProgress): boolean {
  return paths.some((path, index) => progress[index]?.has(path.length) === true);
}

/** Whether anything below can still match. */
export function canGoOn(paths: readonly GlobPath[], progress: GlobProgress): boolean {
  return paths.some((path, index) => [...(progress[index] ?? NOWHERE)].some((position) => position < path.length));
}

/** Whether a whole path matches, name by name. */
export function matchesGlob(paths: readonly GlobPath[], names: readonly string[]): boolean {
  let progress = startGlob(paths);
  for (const name of names) progress = stepGlob(paths, progress, { name, includeHidden: true });
  return isMatched(paths, progress);
}

const NOWHERE: GlobPositions = new Set();

function readingOf({ name, includeHidden }: GlobStep): GlobReading {
  const isHidden = name.startsWith('.') && !includeHidden;
  return {
    passes: () => !isHidden,
    fits: (pattern) => (!isHidden || saysDot(pattern)) && matchesName(pattern, name),
    meansFolder: false,
  };
}

function saysDot({ tokens: [first] }: NamePattern): boolean {
  return first?.type === 'character' && first.character === '.';
}

/** `a{b,c{d,e}}` is ab, acd and ace. Braces without a comma, and those behind a backslash, are literal. */
function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = firstGroup(next);
    if (group === undefined) done.push(next);
    else waiting.push(...group.reverse());
    if (done.length + waiting.length > MAX_GLOB_ALTERNATIVES) {
      throw invalidGlob(
        pattern,
        `its braces stand for more than ${MAX_GLOB_ALTERNATIVES} patterns`,
        'Use fewer braces, or more than one call.',
      );
    }
  }
  return done;
}

/** The patterns that the first group of braces stands for. */
function firstGroup(pattern: string): string[] | undefined {
  for (let open = nextBrace(pattern, 0); open !== -1; open = nextBrace(pattern, open + 1)) {
    const parts = partsOf(pattern, open);
    if (parts !== undefined) return parts;
  }
  return undefined;
}

function nextBrace(pattern: string, from: number): number {
  for (let at = from; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '{') return at;
  }
  return -1;
}

function partsOf(pattern: string, open: number): string[] | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let at = open; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === ',' && depth === 1) commas.push(at);
    else if (character === '}') {
      depth -= 1;
      if (depth > 0) continue;
      if (commas.length === 0) return undefined;
      const edges = [open, ...commas, at];
      return edges
        .slice(1)
        .map(
          (edge, index) =>
            pattern.slice(0, open) + pattern.slice((edges[index] ?? 0) + 1, edge) + pattern.slice(at + 1),
        );
    }
  }
  return undefined;
}

function invalidGlob(pattern: string, message: string, hint: string): RuntimeError {
  return new RuntimeError('PATTERN_INVALID', `cannot use the pattern ${JSON.stringify(pattern)}: ${message}`, {
    category: 'validation',
    hint,
    details: { pattern },
  });
}
