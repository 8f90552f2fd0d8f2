/** What a call changes in a file, as the lines of a difference, where its input says so. */

export interface FileChanges {
  readonly path: string;
  /** Each begins with `+`, `-` or another sign of a unified difference. */
  readonly lines: readonly string[];
}

/** @param input of the call, JSON @param output JSON; where it tells what came of it, that is it */
export function changesOf(input: unknown, output: unknown): FileChanges | undefined {
  const { path, content, edits } = objectOf(input);
  const { diff } = objectOf(output);
  if (typeof path !== 'string') return undefined;
  if (typeof diff === 'string') return { path, lines: diff.split('\n').filter((line) => line !== '') };
  if (typeof content === 'string') return { path, lines: signed('+', content) };
  const lines = (Array.isArray(edits) ? edits : [input]).flatMap((edit) => {
    const { oldText, newText } = objectOf(edit);
    return typeof oldText === 'string' && typeof newText === 'string' ? [...signed('-', oldText), ...signed('+', newText)] : [];
  });
  return lines.length === 0 ? undefined : { path, lines };
}

/** Of what is no object, nothing. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function signed(sign: string, text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n').map((line) => `${sign}${line}`);
}
