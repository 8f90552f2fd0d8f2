/** Wrong usage: what can be seen from the arguments alone, before anything is checked. It exits with 2. */
import { InvalidArgumentError } from 'commander';
import { RuntimeError } from '../machines/errors.ts';
import { agentId, environmentId } from '../machines/ids.ts';

export const USAGE = 'USAGE';

export function usageError(message: string, hint: string): RuntimeError {
  return new RuntimeError(USAGE, message, { category: 'validation', hint });
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Reads the value of an option as a whole number. */
export function wholeNumber({ min, max }: Range): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Reads the value of an option that may not be empty. */
export function nonEmpty(value: string): string {
  if (value !== '') return value;
  throw new InvalidArgumentError('Expected a value that is not empty.');
}

// Names that a user writes on a command line, and that cannot be one: seen without checking anywhere.

/** @throws a usage error */
export function checkedAgentName(name: string): string {
  const parsed = agentId.safeParse(name);
  if (parsed.success) return parsed.data;
  throw usageError(
    `expected the name of an agent, received ${JSON.stringify(name)}`,
    'A name has lower-case letters, digits, "-" and "_", at most 64 of them, such as code-reviewer.',
  );
}

/** @throws a usage error */
export function checkedEnvironmentName(name: string): string {
  const parsed = environmentId.safeParse(name);
  if (parsed.success) return parsed.data;
  throw usageError(
    `expected the name of an environment, received ${JSON.stringify(name)}`,
    'A name has lower-case letters, digits, "-" and "_", at most 64 of them, such as builds.',
  );
}
