/** What a record of another runtime says, in words that both runtimes share. */
import type { WakePriority } from '../wake/directive.ts';
import type { JsonObject } from './lenient.ts';

export type SourceRuntime = 'openboa' | 'rowboat';

export type ToolOutcome = 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown';

interface OfCall {
  /** As the source names it. */
  readonly callId?: string | undefined;
}

interface OfRequest extends OfCall {
  readonly requestId?: string | undefined;
}

/** A wake that the source has planned. */
export interface PlannedWake {
  readonly wakeId?: string | undefined;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly dueAtMs: number;
  readonly note?: string | undefined;
  readonly dedupeKey?: string | undefined;
  readonly priority: WakePriority;
}

export type SourceFact =
  | { readonly kind: 'user_message'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'agent_message'; readonly text: string }
  | ({ readonly kind: 'tool_call'; readonly name: string; readonly input: unknown } & OfCall)
  | ({
      readonly kind: 'tool_result';
      readonly name?: string | undefined;
      readonly output: unknown;
      readonly outcome: ToolOutcome;
    } & OfCall)
  | ({ readonly kind: 'permission_request'; readonly because: string } & OfRequest)
  | ({ readonly kind: 'permission_answer'; readonly allowed: boolean; readonly note?: string | undefined } & OfRequest)
  | ({
      readonly kind: 'question';
      readonly question: string;
      readonly choices?: readonly string[] | undefined;
    } & OfRequest)
  | ({ readonly kind: 'answer'; readonly response: string } & OfRequest)
  | ({ readonly kind: 'custom_tool'; readonly name: string; readonly input: unknown } & OfRequest)
  | ({ readonly kind: 'custom_tool_result'; readonly output: unknown } & OfRequest)
  | {
      readonly kind: 'outcome';
      readonly title: string;
      readonly detail?: string | undefined;
      readonly criteria?: readonly string[] | undefined;
    }
  | { readonly kind: 'interrupt'; readonly reason?: string | undefined }
  | {
      readonly kind: 'learning';
      readonly learning: 'lesson' | 'correction' | 'error';
      readonly title: string;
      readonly detail: string;
      readonly dedupeKey?: string | undefined;
    }
  | { readonly kind: 'wake_planned'; readonly wake: PlannedWake }
  | { readonly kind: 'wake_done'; readonly wakeId: string }
  /** The model has ended its step. */
  | { readonly kind: 'step_end' }
  | { readonly kind: 'terminated'; readonly reason?: string | undefined };

/** What is known of a session besides what happened in it. */
export interface SourceIdentity {
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly title?: string | undefined;
  readonly createdAtMs?: number | undefined;
  readonly model?: string | undefined;
}

export interface RecordReading {
  /** What the record calls itself. */
  readonly type: string;
  readonly id?: string | undefined;
  readonly atMs?: number | undefined;
  readonly facts: readonly SourceFact[];
  readonly identity?: SourceIdentity | undefined;
  /** Why not all of it is understood; then the record is kept besides. */
  readonly leftOver?: string | undefined;
}

export type ReadRecord = (record: JsonObject) => RecordReading;
