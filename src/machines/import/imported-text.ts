/** Makes what a source says fit: texts, inputs and outputs, each with a word about what is left out. */
import { beginningOf } from '../cut-text.ts';
import { MAX_MESSAGE_CHARACTERS, MAX_TOOL_RESULT_CHARACTERS } from '../session/limits.ts';
import { MAX_IMPORT_INPUT_CHARACTERS } from './import-limits.ts';

/** Where the whole of what was cut is kept, from the session's workspace. */
const LEFT_OVER_FILE = 'imported/left-over.jsonl';

const NOTE = `\n\n[Cut when it was imported. The whole record is in ${LEFT_OVER_FILE}.]`;

export function boundedText(text: string): { readonly text: string; readonly isCut: boolean } {
  if (text.length <= MAX_MESSAGE_CHARACTERS) return { text, isCut: false };
  return { text: `${beginningOf(text, MAX_MESSAGE_CHARACTERS - NOTE.length)}${NOTE}`, isCut: true };
}

export interface Bounded {
  readonly output: unknown;
  readonly isCut: boolean;
}

/** What a tool gave, as long as results are that models read. */
export function boundedOutput(output: unknown): Bounded {
  const text = typeof output === 'string' ? output : jsonOf(output);
  // As JSON a character can take six.
  if (jsonOf(output).length <= MAX_TOOL_RESULT_CHARACTERS)
    return { output: output === undefined ? '' : output, isCut: false };
  return { output: `${beginningOf(text, MAX_TOOL_RESULT_CHARACTERS / 6)}${NOTE}`, isCut: true };
}

export function boundedInput(input: unknown): Bounded {
  const text = jsonOf(input);
  if (text.length <= MAX_IMPORT_INPUT_CHARACTERS) return { output: input === undefined ? {} : input, isCut: false };
  return { output: { beginning: beginningOf(text, MAX_IMPORT_INPUT_CHARACTERS / 6), note: NOTE.trim() }, isCut: true };
}

/** It came out of JSON, so it goes back. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
