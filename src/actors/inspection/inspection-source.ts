/**
 * The port of what an inspector looks at: a living runtime, a log that was stored, or the sessions of a store.
 *
 * Whoever implements it gives plain data only, redacted and bounded: what comes out of here is written to a browser as it is.
 */
import type { InspectionHeader, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { SessionEventData } from '../../machines/session/session-event.ts';
import type { PendingAction, SessionState } from '../../machines/session/session-state.ts';
import type { Explanation } from '../../machines/session/why.ts';
import type { SendReceipt } from '../session/ingress.ts';

/** Numbers of the oldest and the newest record that can be had. Without any, `last` is `first - 1`. */
export interface InspectionRange {
  readonly first: number;
  readonly last: number;
}

export interface InspectedSessionSummary {
  readonly sessionId: string;
  readonly agentId: string;
  readonly title?: string | undefined;
  readonly status: SessionState['status'];
  readonly stopReason?: SessionState['stopReason'];
  /** How many requests wait for somebody outside. */
  readonly pendingActions: number;
}

export interface InspectedSessions {
  readonly sessions: readonly InspectedSessionSummary[];
  /** How many there are in all. */
  readonly total: number;
}

export interface InspectedSession {
  readonly state: SessionState;
  readonly why: Explanation;
  readonly pendingActions: readonly PendingAction[];
}

/** What somebody decided about a request that waits. */
export type InspectionAnswer =
  | { readonly type: 'allow'; readonly requestId: string; readonly scope?: SessionEventData<'user.tool_confirmation'>['scope']; readonly note?: string | undefined }
  | { readonly type: 'deny'; readonly requestId: string; readonly note?: string | undefined }
  | { readonly type: 'answer'; readonly requestId: string; readonly text: string };

export interface InspectionSource {
  readonly header: InspectionHeader;
  range(): InspectionRange;
  /** Pages of records from number `from` (or the oldest that is left) to the newest, in order, each page some hundred or thousand. It ends there. */
  records(from: number): AsyncIterable<readonly InspectionRecord[]>;
  /** Calls the listener after records were added, at most once per turn of the event loop. @returns leaves; idempotent */
  follow(listener: (batch: readonly InspectionRecord[]) => void): () => void;
  /** Undefined: no chart of that id was told. */
  chart(id: string): ChartDescription | undefined;
  /** Those that changed last first, at most `limit`. */
  sessions(options: { readonly limit: number }): Promise<InspectedSessions>;
  /** Undefined: there is no such session. */
  session(sessionId: string): Promise<InspectedSession | undefined>;
  /**
   * Stores the answer. The same answer to the same request again gives the first receipt, also after a restart.
   * @throws RuntimeError `conflict` or `not_found` for a request that was answered otherwise, has expired or never was
   */
  answer(sessionId: string, answer: InspectionAnswer): Promise<SendReceipt>;
}
