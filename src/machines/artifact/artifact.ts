/** A file that tells the agent a fact about its session, and how values and tables are written in one. */
import { cutText } from '../cut-text.ts';

export interface Artifact {
  /** A plain file name. */
  readonly name: string;
  readonly text: string;
}

/** Characters of one cell of a table, and of one value in a line. */
export const MAX_CELL_CHARACTERS = 300;

export function jsonArtifact(name: string, value: unknown): Artifact {
  return { name: `${name}.json`, text: `${JSON.stringify(value, undefined, 2)}\n` };
}

/** @param blocks parts with an empty line between them; empty ones are left out */
export function textArtifact(name: string, title: string, ...blocks: readonly string[]): Artifact {
  return { name: `${name}.md`, text: `${[`# ${title}`, ...blocks].filter((block) => block !== '').join('\n\n')}\n` };
}

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return tableOf(headings, rows.map(tableRow));
}

/** @param rows as `tableRow` makes them */
export function tableOf(headings: readonly string[], rows: readonly string[]): string {
  return rows.length === 0 ? '' : [tableRow(headings), `|${'---|'.repeat(headings.length)}`, ...rows].join('\n');
}

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${oneLine(item)}`).join('\n');
}

/** Text as a part of one line: what would look like lines of its own, or is too long, is shown otherwise. */
export function oneLine(text: string, maxCharacters = MAX_CELL_CHARACTERS): string {
  return (
    cutText(text, maxCharacters)
      // eslint-disable-next-line no-control-regex -- control characters are what this searches for
      .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
      .trim()
  );
}

function cell(text: string): string {
  return oneLine(text).replaceAll('\\', '\\\\').replaceAll('|', '\\|');
}

export function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

/** `none` where there is nothing. */
export function joined(values: readonly string[], none = 'none'): string {
  return values.length === 0 ? none : values.join(', ');
}
