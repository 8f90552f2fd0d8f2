/** The input of a tool call as it is shown: names of variables stay, their values do not. */
import { isRecord } from '../validate.ts';

/** Keys of shell tools that hold the value of a variable, or values by name. */
const VALUE = 'value';
const BY_NAME: ReadonlySet<string> = new Set(['env', 'variables', 'environment']);

export function shownInput(toolName: string, input: unknown): unknown {
  if (!toolName.startsWith('shell_') || !isRecord(input)) return input;
  return Object.fromEntries(
    Object.entries(input).flatMap(([key, value]) =>
      key === VALUE ? [] : [[key, BY_NAME.has(key) ? namesOf(value) : value]],
    ),
  );
}

function namesOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Object.keys(value) : undefined;
}
