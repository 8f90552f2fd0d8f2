/** The port to a program that watches over what agents do and what it costs, such as a system of traces. */
import type { SessionEvent } from '../../machines/session/session-event.ts';

export interface Telemetry {
  /**
   * Takes an event that a wake has stored, in the order of its log; events of several sessions may be mixed. It never
   * throws and never waits: what cannot be passed on is dropped.
   * @param agentId the agent of the session
   */
  take(event: SessionEvent, agentId?: string): void;
  /** Ends what is open. What is taken afterwards is dropped. Idempotent. */
  close(): Promise<void>;
}
