/** Task logs as people read them: prefixed lines, in pages. */
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from './task-state.ts';

/** Lines on a page when the caller does not say. */
export const DEFAULT_LOG_PAGE_LINES = 200;

/** Where a line of a log came from. */
export type LogSource = 'stdout' | 'stderr' | 'system';

/** A line as every log shows it. */
export function prefixedLogLine(source: string, line: string): string {
  return `[${source}] ${line}`;
}

/**
 * Splits `text` on line ends (`\n` or `\r\n`) and appends each line that is not empty to `lines`, as `[source] line`.
 */
export function appendPrefixedLogLines(lines: string[], source: string, text: string): void {
  for (const line of text.split(/\r?\n/)) {
    if (line !== '') lines.push(prefixedLogLine(source, line));
  }
}

/**
 * One page of a log held as an array of lines. An offset outside the log is clamped into it, a fraction is cut off, and
 * what is no number reads from the start; `cursor` of the page says where it really begins.
 */
export function createBackgroundTaskLogPage(
  taskId: string,
  lines: readonly string[],
  cursor?: BackgroundTaskLogCursor,
  limit: number = DEFAULT_LOG_PAGE_LINES,
): BackgroundTaskLogPage {
  const offset = clampLogOffset(cursor?.offset, { first: 0, end: lines.length });
  const page = lines.slice(offset, offset + clampLogLimit(limit));
  return logPage({ taskId, offset, lines: page, end: lines.length });
}

/** The nearest line index in [first, end] that `offset` can mean. */
export function clampLogOffset(
  offset: number | undefined,
  { first, end }: { readonly first: number; readonly end: number },
): number {
  if (typeof offset !== 'number' || Number.isNaN(offset)) return first;
  return Math.min(Math.max(Math.floor(offset), first), end);
}

/** At least one line, so that paging always moves on. */
export function clampLogLimit(limit: number): number {
  if (typeof limit !== 'number' || Number.isNaN(limit)) return DEFAULT_LOG_PAGE_LINES;
  return Math.max(1, Math.floor(limit));
}

export interface LogPageParts {
  readonly taskId: string;
  /** Index of the first of `lines`. */
  readonly offset: number;
  readonly lines: readonly string[];
  /** Lines logged so far. */
  readonly end: number;
}

export function logPage({ taskId, offset, lines, end }: LogPageParts): BackgroundTaskLogPage {
  const next = offset + lines.length;
  return { taskId, cursor: { offset }, lines, ...(next < end ? { nextCursor: { offset: next } } : {}) };
}
