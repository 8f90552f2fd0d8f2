/** What a caller of `wake` learns when it is over. Everything in it can also be read from the log. */
import * as z from 'zod';
import type { ErrorRecord } from '../errors.ts';
import type { SessionEventData } from '../session/session-event.ts';
import type { SessionStatus, SessionStopReason } from '../session/session-machine.ts';

export interface WakeOutcome {
  readonly sessionId: string;
  /**
   * `nothing_to_do`: nothing was unread or due. `parked`: one wake too many had died, and the session was parked
   * instead.
   */
  readonly outcome: Exclude<SessionEventData<'wake.ended'>['outcome'], 'lost'> | 'nothing_to_do' | 'parked';
  /** Absent when nothing was to do. */
  readonly wakeId?: string | undefined;
  readonly epoch?: number | undefined;
  readonly summary: string;
  readonly modelSteps: number;
  readonly status: SessionStatus;
  readonly stopReason?: SessionStopReason | undefined;
  /** Sequence number of the last event of the log. */
  readonly head: number;
  /** Why it failed, when it did. */
  readonly error?:
    | (Pick<ErrorRecord, 'message' | 'hint'> & { readonly code: string; readonly category: string })
    | undefined;
}

const shape = z.looseObject({
  sessionId: z.string(),
  outcome: z.string(),
  summary: z.string(),
  modelSteps: z.number(),
  status: z.string(),
  head: z.number(),
});

/** What another process of this version says of a wake that it ran; undefined when it is no such thing. */
export function readWakeOutcome(value: unknown): WakeOutcome | undefined {
  const parsed = shape.safeParse(value);
  // The shape is what a caller relies on; the names in it are those of the same version.
  return parsed.success ? Object.freeze(parsed.data as unknown as WakeOutcome) : undefined;
}
