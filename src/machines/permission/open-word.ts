/**
 * Unquoted wildcards and braces of a shell: which words have them, what they may become, and which of them may be given
 * to what only reads.
 */
import { pathProblem } from './sensitive-path.ts';

const NAME = /[A-Za-z0-9_./@+-]/;
/** A class of plain letters and digits: none stands for a dot, a slash or a sign. */
const CLASS = /\[(?:[A-Za-z]-[A-Za-z]|[0-9]-[0-9]|[A-Za-z0-9_])+\]/;
const PIECE = new RegExp(`^(?:${NAME.source}|[*?]|${CLASS.source})$`);

const PATTERN_PARTS = new RegExp(`${CLASS.source}|[*?]|${NAME.source}|\\{|\\}|,`, 'g');
const WILDCARD = new RegExp(`[*?]|${CLASS.source}`);

const MAX_PATTERNS = 50;

/**
 * What the word may stand for, with itself as the first; undefined when it is not made of plain characters, wildcards
 * and simple braces alone.
 */
export function openPatterns(text: string): readonly string[] | undefined {
  const parts: readonly string[] = text.match(PATTERN_PARTS) ?? [];
  if (parts.join('') !== text) return undefined;
  let spread: readonly string[] = [''];
  let hasBraces = false;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (part !== '{') {
      if (!PIECE.test(part)) return undefined;
      spread = spread.map((each) => each + part);
      continue;
    }
    const end = parts.indexOf('}', at);
    const inside = parts.slice(at + 1, Math.max(at, end));
    // Without a comma they are no braces to any shell; with two dots they may count.
    if (!inside.includes(',') || inside.includes('{') || inside.join('').includes('..')) return undefined;
    const choices = inside.join('').split(',');
    spread = spread.flatMap((each) => choices.map((choice) => each + choice));
    if (spread.length > MAX_PATTERNS) return undefined;
    hasBraces = true;
    at = end;
  }
  // Not every shell knows braces: one that does not takes the word as it is.
  return hasBraces ? [text, ...spread] : [text];
}

/**
 * Why what a pattern finds should not be read unasked, as far as it tells by itself; undefined when only the disk can
 * tell. For people.
 */
export function patternProblem(pattern: string): string | undefined {
  const hidden = pattern.split('/').find((segment) => segment.startsWith('.') && WILDCARD.test(segment));
  if (hidden !== undefined) return `"${pattern}" may find hidden files`;
  return pathProblem(pattern);
}

/**
 * For one part of a path: a matcher that finds at least what every shell finds. To a shell that counts bytes two signs
 * may be one character. Undefined when it has no wildcard.
 */
export function nameMatcher(segment: string): RegExp | undefined {
  if (!WILDCARD.test(segment)) return undefined;
  const source = segment.replaceAll(new RegExp(`${CLASS.source}|[*?]|[.+^$(){}|,]`, 'g'), (part) =>
    part === '*' ? '.*' : part === '?' || part.startsWith('[') ? '.?' : `\\${part}`,
  );
  return new RegExp(`^(?!\\.)${source}$`, 'su');
}
