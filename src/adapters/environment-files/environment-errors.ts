/** The errors of environment files. */
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

export interface Complaint {
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

const KEYS =
  'An environment needs "sandbox: required" or "sandbox: off", and may have description, network, mounts, vaults, permission, budget, variables, quota, evaluation and hostBound.';

/** More than a few complaints do not help. */
const MAX_COMPLAINTS = 5;

export function environmentInvalid(fileName: string, complaints: readonly Complaint[]): RuntimeError {
  const [first] = complaints;
  const shown = complaints.slice(0, MAX_COMPLAINTS).map(({ line, message }) => `line ${line}: ${message}`);
  const more = complaints.length - shown.length;
  return new RuntimeError(
    'ENVIRONMENT_INVALID',
    `environment file ${fileName} is not valid: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    {
      category: 'validation',
      hint: KEYS,
      details: { fileName, line: first?.line ?? 1, issues: complaints },
    },
  );
}

export function environmentInCodeInvalid(what: string, issues: readonly string[]): RuntimeError {
  return new RuntimeError('ENVIRONMENT_INVALID', `${what} is not valid: ${issues.join('; ')}`, {
    category: 'validation',
    hint: KEYS,
    details: { issues },
  });
}

/** A process that is not given the code would use the file. */
export function environmentDefinedTwice(environmentId: string): RuntimeError {
  return new RuntimeError(
    'ENVIRONMENT_DEFINED_TWICE',
    `the environment "${environmentId}" is defined in code and by a file of the home`,
    {
      category: 'conflict',
      hint: `Remove environments/${environmentId}.yaml from the home, or give the environment in code another name.`,
      details: { environmentId },
    },
  );
}

/** A place that another user may have made or may change. */
export function environmentExposed(path: string, problem: string, hint: string): RuntimeError {
  return new RuntimeError('ENVIRONMENT_INVALID', `the environment in ${path} cannot be relied on: ${problem}`, {
    category: 'permission',
    hint,
    details: { path },
  });
}

export function environmentNotFound(environmentId: string, known: readonly string[]): RuntimeError {
  const meant = closestName(environmentId, known);
  return new RuntimeError('ENVIRONMENT_NOT_FOUND', `there is no environment "${environmentId}"`, {
    category: 'not_found',
    hint: `${meant === undefined ? '' : `Did you mean "${meant}"? `}Environments that are there: ${known.join(', ')}. A file ${environmentId}.yaml in the folder "environments" of the home makes one.`,
    details: { environmentId, known },
  });
}

export function environmentExists(environmentId: string): RuntimeError {
  return new RuntimeError('ENVIRONMENT_EXISTS', `there is a file for the environment "${environmentId}" already`, {
    category: 'conflict',
    hint: 'Edit it, or choose another name.',
    details: { environmentId },
  });
}

export function unreadable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('STORAGE_FAILED', `could not read ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    cause,
  });
}

export function unwritable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('STORAGE_FAILED', `could not write ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    cause,
  });
}
