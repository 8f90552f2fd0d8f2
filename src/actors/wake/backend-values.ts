/** What a backend says of its tools, in a form that the log can hold whatever it was: it is unchecked. */
import { canonicalJson } from '../../machines/canonical-json.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { cutOutput } from '../../machines/turn/output-cut.ts';
import { imageReferencesIn } from '../../machines/turn/provider-message.ts';
import type { RunPermissionRequest } from '../run/agent-runtime.ts';

/** Characters of an output in the log, and of an input. The backend's own session holds all of it. */
const MAX_OUTPUT_CHARACTERS = 30_000;
const MAX_INPUT_CHARACTERS = 200_000;

const MAX_NAME_CHARACTERS = 200;

/** A name that the log takes. */
export function asName(name: unknown): string {
  return typeof name === 'string' && name !== '' ? beginningOf(name, MAX_NAME_CHARACTERS) : 'unnamed';
}

/** The value as JSON has it; one that JSON cannot hold, or that is too long, as a text about it. */
export function asJson(value: unknown): unknown {
  const text = jsonText(value);
  if (text === undefined) return value === undefined || value === null ? null : `[${typeof value} that is no JSON]`;
  return text.length <= MAX_INPUT_CHARACTERS
    ? (JSON.parse(text) as unknown)
    : cutOutput(text, { maxCharacters: MAX_INPUT_CHARACTERS });
}

/**
 * An output as the log keeps it: text that is too long is cut, with a mark. One in which something could be taken for
 * an image that we have kept is only told: it would choose which file a model is shown.
 */
export function bounded(output: unknown): unknown {
  const given = asJson(output);
  const value = [given, [given]].some((each) => imageReferencesIn(each).length > 0) ? JSON.stringify(given) : given;
  const text = typeof output === 'string' ? output : (jsonText(output) ?? '');
  return text.length <= MAX_OUTPUT_CHARACTERS ? value : cutOutput(text, { maxCharacters: MAX_OUTPUT_CHARACTERS });
}

/** Whether a person who is asked sees all of the input. */
export function isShownWhole(input: unknown): boolean {
  if (input === undefined || input === null) return true;
  const text = jsonText(input);
  return text !== undefined && text.length <= MAX_INPUT_CHARACTERS;
}

/** The same for questions about the same. */
export function questionText({ name, input, means }: RunPermissionRequest): string {
  return canonicalJson([asName(name), asJson(input), asJson(means ?? null)]);
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
