/**
 * Errors of background tasks. Vendor error objects never reach public state: they are mapped here and kept as `cause`
 * only.
 */
import { RuntimeError, messageOf } from '../errors.ts';
import type { ErrorCategory, ErrorRecord } from '../errors.ts';

interface BackgroundTaskErrorOptions {
  /** Stable name for programs; `TASK_<CATEGORY>` when the category says enough. */
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly recoverable?: boolean | undefined;
  readonly cause?: unknown;
}

export class BackgroundTaskError extends RuntimeError {
  override readonly name: string = 'BackgroundTaskError';

  constructor(category: ErrorCategory, message: string, options: BackgroundTaskErrorOptions = {}) {
    super(options.code ?? `TASK_${category.toUpperCase()}`, message, { ...options, category });
  }

  /** Whatever a runner threw, as a task error: its own category when it has one, `fallback` otherwise. */
  static from(thrown: unknown, fallback: ErrorCategory): BackgroundTaskError {
    if (thrown instanceof BackgroundTaskError) return thrown;
    if (RuntimeError.is(thrown)) {
      const { code, hint, details, recoverable } = thrown;
      return new BackgroundTaskError(thrown.category, thrown.message, {
        code,
        hint,
        details,
        recoverable,
        cause: thrown,
      });
    }
    return new BackgroundTaskError(fallback, messageOf(thrown), { cause: thrown });
  }

  /** The error a stored record stands for. */
  static fromRecord(record: ErrorRecord): BackgroundTaskError {
    const { code, hint, details, recoverable } = record;
    return new BackgroundTaskError(record.category, record.message, { code, hint, details, recoverable });
  }
}
