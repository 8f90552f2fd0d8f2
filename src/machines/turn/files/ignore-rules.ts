/** The rules of a `.gitignore`, read as git reads them, in linear time. */
import { MAX_IGNORE_RULES } from './file-limits.ts';
import { matchesGlob, parseGlobPath } from './glob-pattern.ts';
import type { GlobPath } from '../../glob-steps.ts';
import { matchesName, parseNamePattern } from '../../glob-name.ts';
import type { NamePattern } from '../../glob-name.ts';

interface IgnoreRule {
  readonly negated: boolean;
  readonly foldersOnly: boolean;
  /** A rule without a slash speaks of names, wherever they are; any other of paths from the folder of the file. */
  readonly target: { readonly name: NamePattern } | { readonly path: GlobPath };
}

/** In reverse: the last rule that matches decides. */
export type IgnoreRules = readonly IgnoreRule[];

export function parseIgnoreRules(text: string): IgnoreRules {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/, MAX_IGNORE_RULES);
  return lines.flatMap((line) => parseRule(line) ?? []).reverse();
}

export interface IgnoreCandidate {
  /** From the folder of the rules to the file or folder itself. */
  readonly names: readonly string[];
  readonly isFolder: boolean;
}

/**
 * What the rules say about something; undefined when they say nothing. What lies in an ignored folder is not asked
 * about.
 */
export function ignoreVerdict(
  rules: IgnoreRules,
  { names, isFolder }: IgnoreCandidate,
): 'ignored' | 'kept' | undefined {
  const name = names.at(-1) ?? '';
  const rule = rules.find(({ foldersOnly, target }) => {
    if (foldersOnly && !isFolder) return false;
    return 'name' in target ? matchesName(target.name, name) : matchesGlob([target.path], names);
  });
  if (rule === undefined) return undefined;
  return rule.negated ? 'kept' : 'ignored';
}

function parseRule(line: string): IgnoreRule | undefined {
  const kept = withoutTrailingSpaces(line);
  if (kept === '' || kept.startsWith('#')) return undefined;
  const negated = kept.startsWith('!');
  const body = negated ? kept.slice(1) : kept;
  const foldersOnly = body.endsWith('/');
  const pattern = foldersOnly ? body.slice(0, -1) : body;
  if (pattern === '' || pattern === '/') return undefined;
  const target = pattern.includes('/') ? { path: parseGlobPath(pattern) } : { name: parseNamePattern(pattern) };
  return { negated, foldersOnly, target };
}

/** Spaces at the end do not count, unless a backslash stands before them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1;
  return line.slice(0, end);
}
