/** What a session's log adds up to: one immutable value, folded from events by session-fold.ts. */
import type { SessionEventData } from './session-event.ts';
import type { SessionStatus, SessionStopReason } from './session-machine.ts';
import type { Directive } from '../wake/directive.ts';

/** An ingress event that no model step has answered yet. */
export interface PendingIngress {
  readonly eventId: string;
  readonly seq: number;
  readonly type: 'user.message' | 'user.custom_tool_result';
}

/** A request to somebody outside. The session rests in `requires_action` while there is one. */
export interface PendingAction {
  readonly requestId: string;
  /** The event that asked. */
  readonly eventId: string;
  readonly kind: 'custom_tool';
  readonly toolName: string;
}

/** A tool call without a result. */
export interface OpenToolCall {
  readonly callId: string;
  readonly name: string;
}

export interface QueuedWake extends SessionEventData<'wake.queued'> {
  readonly eventId: string;
}

export interface OpenWake {
  readonly wakeId: string;
  readonly epoch: number;
  readonly owner: string;
  readonly startedAt: string;
  /** The queued wakes that this one was due for. */
  readonly queuedWakeIds: readonly string[];
}

export interface LastWake {
  readonly wakeId: string;
  readonly epoch: number;
  readonly endedAt: string;
  readonly outcome: SessionEventData<'wake.ended'>['outcome'];
  readonly error?: SessionEventData<'wake.ended'>['error'];
}

export interface SessionState {
  readonly sessionId: string;
  readonly agentId: string;
  readonly title?: string | undefined;
  readonly createdAt?: string | undefined;
  /** When the last event happened, as whoever appended it saw the time. */
  readonly updatedAt?: string | undefined;

  readonly status: SessionStatus;
  /** Absent while the session runs. */
  readonly stopReason?: SessionStopReason | undefined;
  /** What the last wake did, or why it could not. */
  readonly summary?: string | undefined;

  /** Sequence number of the last event; 0 for an empty log. */
  readonly head: number;
  /** The highest epoch of a wake; 0 before the first. */
  readonly epoch: number;
  readonly terminatedAtSeq?: number | undefined;

  readonly pending: readonly PendingIngress[];
  readonly pendingActions: readonly PendingAction[];
  readonly openToolCalls: readonly OpenToolCall[];
  readonly openSpanId?: string | undefined;
  readonly openWake?: OpenWake | undefined;
  readonly lastWake?: LastWake | undefined;
  readonly queuedWakes: readonly QueuedWake[];
  /** Directives that were accepted and whose wishes are not in the log yet. */
  readonly openDirectives: readonly Directive[];

  /** Model steps that ended, over the whole log. The position of a script. */
  readonly modelSteps: number;
  readonly messages: number;
  readonly wakes: number;
  /** Tool results that no model step has seen. */
  readonly unansweredResults: number;
  readonly continuesInARow: number;
}

/** The state before the first event. A damaged first record must not cost a session its name, so that comes from where the log lies. */
export function initialSessionState({ sessionId, agentId }: { readonly sessionId: string; readonly agentId: string }): SessionState {
  return {
    sessionId,
    agentId,
    status: 'idle',
    stopReason: 'idle',
    head: 0,
    epoch: 0,
    pending: [],
    pendingActions: [],
    openToolCalls: [],
    queuedWakes: [],
    openDirectives: [],
    modelSteps: 0,
    messages: 0,
    wakes: 0,
    unansweredResults: 0,
    continuesInARow: 0,
  };
}
