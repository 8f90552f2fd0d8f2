/** One reason why a session does what it does, or does nothing. */
import type { Mover } from './why-movers.ts';

/** What a session can be busy with or wait for. */
export type ReasonKind =
  | 'running'
  | 'dead'
  | 'lost'
  | 'losing'
  | 'suspended'
  | 'permission'
  | 'question'
  | 'custom_tool'
  | 'child'
  | 'agent_missing'
  | 'environment_missing'
  | 'unread'
  | 'held_back'
  | 'queued_wake'
  | 'retry'
  | 'unfinished'
  | 'parked'
  | 'budget'
  | 'disk_full'
  | 'schedule'
  | 'unreadable'
  | 'terminated'
  | 'left'
  | 'nothing';

export interface Reason {
  readonly kind: ReasonKind;
  /** As one sentence, for people. What came from outside is in it as it came: make it printable before it is shown. */
  readonly text: string;
  /** ISO-8601, where the log tells. */
  readonly since?: string | undefined;
  /** ISO-8601: when it happens by itself, or when an answer is void. */
  readonly until?: string | undefined;
  /** Those that can move it on, each with the events that would. Empty where it is over. */
  readonly movers: readonly Mover[];
  readonly requestId?: string | undefined;
  readonly callId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly childSessionId?: string | undefined;
  /** What an approval for more than once would allow. */
  readonly rules?: readonly string[] | undefined;
  /** Of a session that runs: its tool calls that have no result, in the states of their chart. */
  readonly calls?: readonly OpenCallState[] | undefined;
}

export interface OpenCallState {
  readonly callId: string;
  readonly name: string;
  readonly state: 'requested' | 'awaiting_permission' | 'awaiting_input' | 'answered' | 'executing';
}

/** A span of time, as few words as it takes: `34 s`, `5 min`, `3 h`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
