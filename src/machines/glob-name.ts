/**
 * One name in a glob pattern: literal characters, `*`, `?`, `[a-z]`. Matched without a regular expression: those that
 * patterns are usually turned into take seconds for a name of 200 characters and a pattern of four stars, and patterns
 * come from models and from repositories.
 */

type Token =
  | { readonly type: 'character'; readonly character: string }
  | { readonly type: 'any' }
  | { readonly type: 'star' }
  | {
      readonly type: 'class';
      readonly negated: boolean;
      readonly ranges: readonly (readonly [low: number, high: number])[];
    };

export interface NamePattern {
  readonly tokens: readonly Token[];
  /** The name itself, when there is nothing else that it could be. */
  readonly literal?: string | undefined;
  /** What the name must end with, when that and a star before it is all there is. */
  readonly suffix?: string | undefined;
}

/** `source` holds no slash. A backslash makes what follows literal; a bracket that is not closed is literal too. */
export function parseNamePattern(source: string): NamePattern {
  const characters = Array.from(source);
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    const group = character === '[' ? parseClass(characters, at) : undefined;
    if (group !== undefined) {
      tokens.push(group.token);
      at = group.end;
    } else if (character === '*') {
      if (tokens.at(-1)?.type !== 'star') tokens.push({ type: 'star' });
    } else if (character === '?') {
      tokens.push({ type: 'any' });
    } else {
      if (character === '\\' && at + 1 < characters.length) at += 1;
      tokens.push({ type: 'character', character: characters[at] ?? '' });
    }
  }
  return patternOf(tokens);
}

/** With `*` and `?` only: backslashes and brackets are characters as any other. */
export function parsePlainName(source: string): NamePattern {
  return patternOf(
    Array.from(source, (character): Token => {
      if (character === '*') return { type: 'star' };
      return character === '?' ? { type: 'any' } : { type: 'character', character };
    }),
  );
}

function patternOf(tokens: readonly Token[]): NamePattern {
  const [first, ...rest] = tokens;
  return { tokens, literal: textOf(tokens), suffix: first?.type === 'star' ? textOf(rest) : undefined };
}

/** Whether a name fits. Takes time in the length of the name times that of the pattern, at most. */
export function matchesName({ tokens, literal, suffix }: NamePattern, name: string): boolean {
  if (literal !== undefined) return name === literal;
  if (suffix !== undefined) return name.endsWith(suffix);
  const characters = Array.from(name);
  let at = 0;
  let token = 0;
  let star = -1;
  let starAt = 0;
  while (at < characters.length) {
    const expected = tokens[token];
    if (expected?.type === 'star') {
      star = token;
      starAt = at;
      token += 1;
    } else if (expected !== undefined && matchesCharacter(expected, characters[at] ?? '')) {
      at += 1;
      token += 1;
    } else if (star === -1) {
      return false;
    } else {
      // Only the last star need give way: what an earlier one could take, the last one can take as well.
      starAt += 1;
      at = starAt;
      token = star + 1;
    }
  }
  return tokens.slice(token).every(({ type }) => type === 'star');
}

function matchesCharacter(token: Token, character: string): boolean {
  if (token.type === 'character') return token.character === character;
  if (token.type !== 'class') return true;
  const code = character.codePointAt(0) ?? 0;
  return token.ranges.some(([low, high]) => low <= code && code <= high) !== token.negated;
}

function textOf(tokens: readonly Token[]): string | undefined {
  let text = '';
  for (const token of tokens) {
    if (token.type !== 'character') return undefined;
    text += token.character;
  }
  return text;
}

/** A class that begins at `start`; `end` is where its closing bracket stands. */
function parseClass(
  characters: readonly string[],
  start: number,
): { readonly token: Token; readonly end: number } | undefined {
  const negated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const ranges: (readonly [number, number])[] = [];
  const codeAt = (index: number): number => characters[index]?.codePointAt(0) ?? 0;
  for (let at = first; at < characters.length; at += 1) {
    // A closing bracket at the very beginning stands for itself.
    if (characters[at] === ']' && at > first) return { token: { type: 'class', negated, ranges }, end: at };
    if (characters[at] === '\\') at += 1;
    const low = codeAt(at);
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length && characters[at + 2] !== ']';
    if (isRange) at += characters[at + 2] === '\\' ? 3 : 2;
    ranges.push([low, isRange ? codeAt(at) : low]);
  }
  return undefined;
}
