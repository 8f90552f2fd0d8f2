/**
 * What stands around simple commands: separators, groups, comments and line ends. All of it is known, or the line is
 * not understood.
 */
import { NotUnderstood } from './literal-word.ts';

/** One letter for each thing that means something, so that their order can be held against a pattern. */
export type GapSign = '&&' | '||' | '|' | ';' | 'line' | '(' | ')' | '{' | '}' | 'time' | 'redirection';

const LETTERS: Readonly<Record<GapSign, string>> = {
  '&&': 'A',
  '||': 'O',
  '|': 'P',
  ';': 'S',
  line: 'N',
  '(': 'L',
  ')': 'C',
  '{': 'G',
  '}': 'H',
  time: 'T',
  redirection: 'R',
};

/** Redirections that neither write nor read a file: to and from nowhere, and of one stream into the other. */
const HARMLESS = String.raw`[12]?>[ \t]*/dev/null|<[ \t]*/dev/null|2>&1|1?>&2`;
export const HARMLESS_REDIRECTION = new RegExp(`^(?:${HARMLESS})$`);

const BLANK = /(?:[ \t]|\\\n)+/y;
/** A backslash before the line end has another meaning in there than elsewhere, and not to every reader. */
const COMMENT = /#[^\n]*/y;
const SIGN = /&&|\|\||\||;|\n|\(|\)|\{(?=[ \t\n])|\}(?=[ \t\n;&|)]|$)/y;
/** Not with `-p`, which some shells take for the command. */
const TIME = /time(?=[ \t])/y;
const REDIRECTION = new RegExp(`(?:${HARMLESS})(?=[ \\t\\n;&|)}]|$)`, 'y');

/** After a group it may only end; before a command it may only begin. */
const CLOSING = String.raw`(?:(?:S?N*C|(?:SN*|N+)H)R*)*`;
const OPENING = String.raw`(?:[LG]N*|T)*`;
const PATTERNS = {
  before: new RegExp(`^N*${OPENING}$`),
  between: new RegExp(`^${CLOSING}(?:SN*|N+|[AOP]N*)${OPENING}$`),
  after: new RegExp(`^${CLOSING}(?:S?N*)$`),
} as const;

/** The signs of a gap in their order. @throws NotUnderstood */
export function readGap(gap: string, place: keyof typeof PATTERNS): readonly GapSign[] {
  const signs = signsIn(gap, place);
  const letters = signs.map((sign) => LETTERS[sign]).join('');
  // Two parentheses at once begin arithmetic in some shells; what is timed behind a pipe differs.
  if (!PATTERNS[place].test(letters) || gap.includes('((') || /PN*T/.test(letters)) throw unknown(gap);
  return signs;
}

function signsIn(gap: string, place: keyof typeof PATTERNS): GapSign[] {
  const signs: GapSign[] = [];
  let mayComment = place === 'before';
  for (let at = 0; at < gap.length;) {
    const blank = found(BLANK, gap, at);
    if (blank !== undefined) {
      mayComment = !blank.endsWith('\n');
      at += blank.length;
      continue;
    }
    const comment = mayComment ? found(COMMENT, gap, at) : undefined;
    if (comment !== undefined) {
      at += comment.length;
      continue;
    }
    const [sign, length] = signAt(gap, at, signs);
    signs.push(sign);
    mayComment = sign !== '(' && sign !== ')' && sign !== 'time' && sign !== 'redirection';
    at += length;
  }
  return signs;
}

function signAt(gap: string, at: number, before: readonly GapSign[]): readonly [GapSign, number] {
  const redirection = before.includes(')') || before.includes('}') ? found(REDIRECTION, gap, at) : undefined;
  if (redirection !== undefined) return ['redirection', redirection.length];
  const time = found(TIME, gap, at);
  if (time !== undefined) return ['time', time.length];
  const sign = found(SIGN, gap, at);
  if (sign === undefined) throw unknown(gap);
  return [sign === '\n' ? 'line' : (sign as GapSign), sign.length];
}

function found(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function unknown(gap: string): NotUnderstood {
  return new NotUnderstood(
    gap.includes('#')
      ? 'it has a comment that may be none'
      : `it joins commands in a way that is not known ("${gap.trim()}")`,
  );
}
