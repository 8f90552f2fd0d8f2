/** What a call changes in a file, as the lines of a difference, where its input says so. */

export interface ChangedLines {
  /** The first of them. Each begins with `+`, `-` or another sign of a unified difference. */
  readonly lines: readonly string[];
  /** How many more there are. */
  readonly omitted: number;
}

const MAX_LINES = 200;

/** @param input of the call, JSON @param output JSON; where it tells what came of it, that is it */
export function changesOf(input: unknown, output: unknown): ChangedLines | undefined {
  const lines = linesOf(input, output);
  return lines.length === 0
    ? undefined
    : { lines: lines.slice(0, MAX_LINES), omitted: Math.max(0, lines.length - MAX_LINES) };
}

function linesOf(input: unknown, output: unknown): readonly string[] {
  const { content, edits } = objectOf(input);
  const { diff } = objectOf(output);
  if (typeof diff === 'string') return diff.split('\n').filter((line) => line !== '');
  if (typeof content === 'string') return signed('+', content);
  return (Array.isArray(edits) ? edits : [input]).flatMap((edit) => {
    const { oldText, newText } = objectOf(edit);
    return typeof oldText === 'string' && typeof newText === 'string'
      ? [...signed('-', oldText), ...signed('+', newText)]
      : [];
  });
}

/** Of what is no object, nothing. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function signed(sign: string, text: string): readonly string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${sign}${line}`);
}
