/**
 * Ids, names and inputs of tool calls as every provider takes them. A model may have made up anything, and one call
 * that a provider refuses would make the session unreadable for good.
 */
import { beginningOf } from '../cut-text.ts';
import { isRecord } from '../validate.ts';

const MAX_NAME_CHARACTERS = 64;

/** OpenAI refuses longer ids in chat completions. */
const MAX_CALL_ID_CHARACTERS = 40;

const NOT_ACCEPTED = /[^a-zA-Z0-9_-]/gu;

/** What a call is shown under that has no name at all. */
const NAMELESS = 'unnamed';

/** The name, with what no provider takes replaced. */
export function acceptedName(name: string): string {
  const replaced = beginningOf(name.replaceAll(NOT_ACCEPTED, '_'), MAX_NAME_CHARACTERS);
  return replaced === '' ? NAMELESS : replaced;
}

/**
 * The id, with what no provider takes replaced. A UUID with a word before it is too long with its dashes and fits
 * without.
 */
function acceptedCallId(callId: string): string {
  const replaced = callId.replaceAll(NOT_ACCEPTED, '_');
  return replaced.length <= MAX_CALL_ID_CHARACTERS
    ? replaced
    : beginningOf(replaced.replaceAll('-', ''), MAX_CALL_ID_CHARACTERS);
}

/** The input as an object, which some providers insist on. */
export function acceptedInput(input: unknown): Readonly<Record<string, unknown>> {
  return isRecord(input) ? input : { input: input ?? null };
}

/** Gives every call of a conversation an id of its own, the same for the same calls in the same order. */
export class AcceptedCallIds {
  readonly #taken = new Set<string>();
  /** How often an id was asked for, by its accepted form. */
  readonly #uses = new Map<string, number>();

  next(callId: string): string {
    const base = acceptedCallId(callId);
    let id = base;
    let uses = this.#uses.get(base) ?? 0;
    do {
      uses += 1;
      if (uses > 1) id = withNumber(base, uses);
    } while (this.#taken.has(id));
    this.#uses.set(base, uses);
    this.#taken.add(id);
    return id;
  }
}

function withNumber(base: string, number: number): string {
  const ending = `_${number}`;
  return `${beginningOf(base, MAX_CALL_ID_CHARACTERS - ending.length)}${ending}`;
}
