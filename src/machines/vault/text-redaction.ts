/** Takes secrets out of texts, and says as much of them as those have to know who cut texts, or keep them. */
import type { PieceRedaction } from './secret-redaction.ts';

export interface TextRedaction {
  (text: string): string;
  /**
   * Characters of the longest text that it takes out, without white space in it. Absent: not more than a few thousand.
   */
  readonly longest?: (() => number) | undefined;
  /**
   * The same of one text that comes in pieces: what may be the beginning of a secret is kept back. Absent: none of them
   * has white space in it.
   */
  readonly pieces?: (() => PieceRedaction<string>) | undefined;
  /** Another number whenever it has come to take out more. Absent: it never does. */
  readonly version?: (() => number) | undefined;
}

/** Of a text that is cut so many characters at its end may be of a secret that was torn there. */
const MIN_MARGIN_CHARACTERS = 8_192;
/** Long secrets stand in lines, which are indented. */
const SPREAD = 2;

/**
 * Where a text is cut, so many characters are read beyond that, and taken off its end when secrets have been taken out:
 * one that was torn is not known as one.
 */
export function marginOf(redact: TextRedaction | undefined): number {
  return Math.max(MIN_MARGIN_CHARACTERS, SPREAD * (redact?.longest?.() ?? 0));
}
