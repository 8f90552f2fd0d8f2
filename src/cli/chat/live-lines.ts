/** What stands at the end of the screen: what is being said, what is waited for, and the line at which one types. */
import type { LiveLines } from '../terminal/screen.ts';
import type { Styles } from '../terminal/styles.ts';
import { durationText, oneLine } from '../terminal/text.ts';
import type { Conversation } from './conversation.ts';
import type { Prompt } from './prompt.ts';

export interface LiveLinesOptions {
  readonly prompt: Prompt;
  readonly conversation: Pick<Conversation, 'words' | 'work'> | undefined;
  readonly styles: Styles;
  readonly columns: number;
  readonly rows: number;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
export const FRAME_MS = 120;
const INTERRUPTS = 'Ctrl-C interrupts';

/** Lines longer than this are hard to read. */
const MAX_WIDTH = 100;

export function liveLines({ prompt, conversation, styles, columns, rows }: LiveLinesOptions): LiveLines {
  const typed = prompt.lines(columns, Math.max(1, Math.floor(rows / 2)));
  const note =
    typed.hint === '' ? statusText(conversation, { styles, columns }) : styles.yellow(oneLine(typed.hint, columns - 1));
  const left = rows - typed.lines.length - 3;
  // The end of what is being said; all of it is printed when it is whole.
  const words = left <= 0 ? [] : (conversation?.words(Math.min(columns - 1, MAX_WIDTH)) ?? []).slice(-left);
  const above = [
    ...words,
    ...(words.length > 0 || rows > typed.lines.length + 2 ? [''] : []),
    ...(note === '' ? [] : [note]),
  ];
  return {
    lines: [...above, ...typed.lines],
    cursor: { row: typed.cursor.row + above.length, column: typed.cursor.column },
  };
}

function statusText(
  conversation: Pick<Conversation, 'work'> | undefined,
  { styles, columns }: { readonly styles: Styles; readonly columns: number },
): string {
  const work = conversation?.work;
  if (work === undefined) return '';
  const waitedMs = performance.now() - work.sinceMs;
  const frame = FRAMES[Math.floor(performance.now() / FRAME_MS) % FRAMES.length] ?? '';
  const time = durationText(waitedMs);
  const width = columns - 1 - time.length - 4;
  const hasRoom = width > INTERRUPTS.length * 2;
  const text = oneLine(work.text, Math.max(1, hasRoom ? width - INTERRUPTS.length - 3 : width));
  return `${styles.cyan(frame)} ${text} ${styles.dim(`${time}${hasRoom ? ` · ${INTERRUPTS}` : ''}`)}`;
}
