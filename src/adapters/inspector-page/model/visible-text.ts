/**
 * Text from elsewhere as it may be shown: what cannot be seen in it, or would turn its letters around, is written out.
 */
import { beginningOf } from '../../../machines/cut-text.ts';

/** Control characters and what directs how text runs. Tabs and line ends stay, and what emoji are put together with. */
const UNSEEN = /(?!\t|\n|\u200D|\uFE0F)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

const MOST_OF_LINE = 200;
const MOST_OF_LINES = 8_000;

/** On one line, with `⏎` where a line ended; at most `most` characters of it. */
export function visibleText(text: string, most = MOST_OF_LINE): string {
  return visibleLines(text, most).replaceAll('\n', '⏎').replaceAll('\t', ' ');
}

/** With its line ends, at most `most` characters of it; `…` says that there was more. */
export function visibleLines(text: string, most = MOST_OF_LINES): string {
  const kept = text.length <= most ? text : `${beginningOf(text, most)}…`;
  return kept
    .replaceAll('\r\n', '\n')
    .replaceAll(
      UNSEEN,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`,
    );
}
