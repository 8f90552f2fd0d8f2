/** The errors of policy files. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

export interface Complaint {
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

export function policyInvalid(fileName: string, complaints: readonly Complaint[]): RuntimeError {
  const [first] = complaints;
  const text = complaints.map(({ line, message }) => `line ${line}: ${message}`).join('; ');
  return new RuntimeError('POLICY_INVALID', `policy file ${fileName} is not valid: ${text}`, {
    category: 'permission',
    hint: 'A policy file holds "rules:" with one rule a line, such as "- allow shell_run(npm test)". Nothing is allowed by itself until it can be read.',
    details: { fileName, line: first?.line ?? 1, issues: complaints },
  });
}

/** A place that another user may have made or may change. */
export function policyExposed(path: string, problem: string, hint: string): RuntimeError {
  return new RuntimeError('POLICY_INVALID', `the policy in ${path} cannot be relied on: ${problem}`, {
    category: 'permission',
    hint,
    details: { path },
  });
}

export function policyUnreadable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('POLICY_INVALID', `the policy in ${path} cannot be read: ${messageOf(cause)}`, {
    category: 'permission',
    hint: 'Check the file and at who owns it. Nothing is allowed by itself until it can be read.',
    details: { path },
    cause,
  });
}

export function policyBusy(path: string, waitedMs: number): RuntimeError {
  return new RuntimeError('POLICY_BUSY', `the policy in ${path} was being changed by others for ${waitedMs} ms`, {
    category: 'conflict',
    hint: 'Try again. If no process changes it, check the lock file beside it.',
    details: { path, waitedMs },
  });
}

export function policyUnwritable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('STORAGE_FAILED', `could not write ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    cause,
  });
}
