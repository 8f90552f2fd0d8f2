/**
 * Input and output of tools as people read them: what is long or has several lines by itself, the rest as names with
 * values.
 */

export interface DataPart {
  /** Empty: there is nothing that it would have to be told from. */
  readonly name: string;
  readonly text: string;
  /** Of one line, and short. */
  readonly isShort: boolean;
}

const SHORT = 80;
const MAX_PARTS = 60;
/** So many times the space of the value itself. */
const MOST_BLANKS = 4;

/** @param value JSON */
export function partsOf(value: unknown): readonly DataPart[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [part('', value)];
  const entries = Object.entries(value);
  const parts = entries.slice(0, MAX_PARTS).map(([name, each]) => part(name, each));
  const rest = entries.length - MAX_PARTS;
  return rest > 0 ? [...parts, part('', jsonText(Object.fromEntries(entries.slice(MAX_PARTS))))] : parts;
}

function part(name: string, value: unknown): DataPart {
  const text = jsonText(value);
  return { name, text, isShort: typeof value !== 'string' && text.length <= SHORT && !text.includes('\n') };
}

/**
 * A text as it is, anything else as JSON. What is nested deeply would be blanks for the most part: it stays in one
 * line.
 */
export function jsonText(value: unknown): string {
  if (typeof value === 'string') return value;
  const line = JSON.stringify(value) ?? String(value);
  const lines = JSON.stringify(value, undefined, 2) ?? line;
  return lines.length > MOST_BLANKS * line.length ? line : lines;
}
