/**
 * Whether a call of a tool may change what an outcome is judged by: what was evaluated before it does not count after
 * it.
 */
import type { ToolDefinition, ToolEffect } from '../turn/tool-definition.ts';

/** All others read, write about the session, or change what only promotion changes, which the gate holds. */
const CHANGES_WORK = {
  reads_files: false,
  writes_files: true,
  runs_processes: true,
  uses_network: true,
  uses_secrets: true,
  reads_sessions: false,
  writes_session: false,
  promotes: false,
  asks_people: false,
  delegates: true,
} as const satisfies Record<ToolEffect, boolean>;

/** A tool that does not say what it can do may do anything. */
export function mayChangeWork({ readOnly, effects }: Pick<ToolDefinition, 'readOnly' | 'effects'>): boolean {
  if (readOnly) return false;
  return effects === undefined || effects.length === 0 || effects.some((effect) => CHANGES_WORK[effect]);
}
