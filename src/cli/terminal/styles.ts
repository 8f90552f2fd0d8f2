/** Colors and weights for a terminal, and nothing at all where there is none or where they are not wanted. */

export interface Styles {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** The codes that begin and end a style. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export interface StyleSetting {
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** See https://no-color.org: any NO_COLOR that is not empty turns colors off. */
export function stylesFor({ isTerminal, environment }: StyleSetting): Styles {
  const isColored = isTerminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  const style =
    ([begin, end]: readonly [number, number]) =>
    (text: string): string =>
      isColored && text !== '' ? `\u001B[${begin}m${text}\u001B[${end}m` : text;
  return {
    bold: style(CODES.bold),
    dim: style(CODES.dim),
    red: style(CODES.red),
    green: style(CODES.green),
    yellow: style(CODES.yellow),
    cyan: style(CODES.cyan),
  };
}
