/** What tool calls are told apart by: what each of them is about, in one short line. */
import { beginningOf, cutText } from '../cut-text.ts';

const MAX_LABEL_CHARACTERS = 80;

/** By what they are called in the input; a command says by itself which tool runs it. */
const COMMAND = 'command';
const SUBJECTS = ['path', 'question', 'url', 'pattern', 'query'] as const;

/**
 * The tool and what its input says it is about, whole: it may be long and have lines. @param input whatever a program
 * gives; no getter of it is called
 */
export function callSubject(name: string, input: unknown): string {
  const command = textIn(input, COMMAND);
  if (command !== undefined) return command;
  const subject = SUBJECTS.map((field) => textIn(input, field)).find((text) => text !== undefined);
  return subject === undefined ? name : `${name} ${subject}`;
}

/** One line of at most 80 characters. */
export function shortLine(text: string): string {
  return cutText(
    beginningOf(text, MAX_LABEL_CHARACTERS * 4)
      .replaceAll(/\s+/g, ' ')
      .trim(),
    MAX_LABEL_CHARACTERS,
  );
}

function textIn(input: unknown, field: string): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(input, field)?.value;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
