/** Pieces of Markdown that are safe to put names and sentences into. */

/** Text as it stands, in a cell of a table: on one line, and no end of the cell. */
export function cell(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .trim();
}

/** A name as code; empty for an empty one. */
export function code(name: string): string {
  if (name === '') return '';
  // A backtick in a name is closed in by two.
  const fence = name.includes('`') ? '``' : '`';
  return `${fence}${name.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')}${fence}`;
}

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  // A column in which nothing stands is left out.
  const kept = headings
    .map((_, index) => index)
    .filter((index) => rows.length === 0 || rows.some((row) => (row[index] ?? '') !== ''));
  const line = (cells: readonly string[]): string => `| ${kept.map((index) => cells[index] ?? '').join(' | ')} |`;
  return [line(headings), `|${kept.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

export function listed(parts: readonly string[]): string {
  return parts.join(', ');
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
