/** Rows in columns: aligned for people, cut to the width of a terminal, whole where the output goes elsewhere. */
import type { Output } from './output.ts';
import { oneLine, widthOf } from './text.ts';

const GAP = '  ';
/** However narrow the terminal, this much of the last column is shown. */
const MIN_LAST_COLUMN = 12;

/** Lines of a table with a heading. The last column takes what is left of the line. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { styles, columns }: Output,
): string[] {
  const cells = [headings, ...rows].map((row) => row.map((cell) => oneLine(cell)));
  const widths = headings.map((_, index) => Math.max(...cells.map((row) => widthOf(row[index] ?? ''))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const lastWidth = Math.max(MIN_LAST_COLUMN, columns - before);
  return cells.map((row, rowIndex) => {
    const padded = row.map((cell, index) =>
      index === widths.length - 1 ? oneLine(cell, lastWidth) : padEnd(cell, widths[index] ?? 0),
    );
    const line = padded.join(GAP).trimEnd();
    return rowIndex === 0 ? styles.dim(line) : line;
  });
}

/**
 * Names with their values; rows without a value are left out. What a value says on more than one line stands as it is
 * under the first.
 */
export function fieldLines(
  fields: readonly (readonly [string, string | undefined])[],
  { styles }: Pick<Output, 'styles'>,
): string[] {
  const shown = fields.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value }]));
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  return shown.map(({ name, value }) => `${styles.dim(name.padEnd(width))}${GAP}${value}`);
}

function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}
