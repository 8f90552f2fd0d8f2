/** The port to a program that watches over what agents do and what it costs, such as a system of traces. */
import type { MetricChange, MetricReading } from '../../machines/telemetry/metric-catalog.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';

export interface Telemetry {
  /**
   * Takes an event that a wake has stored, in the order of its log; events of several sessions may be mixed. It never
   * throws and never waits: what cannot be passed on is dropped.
   * @param agentId the agent of the session
   */
  take(event: SessionEvent, agentId?: string): void;
  /** Where numbers go that are made of those events. Without it they are made for scrapers only. */
  readonly meter?: Meter | undefined;
  /** Ends what is open. What is taken afterwards is dropped. Idempotent. */
  close(): Promise<void>;
}

/** Takes numbers. As events, they are dropped where they cannot be passed on. */
export interface Meter {
  /** Whether anything takes them now; asked for each event. */
  isOn(): boolean;
  add(changes: readonly MetricChange[]): void;
  /** Called once: how to ask for what is only known when it is asked for. `read` never rejects. */
  readFrom(read: () => Promise<readonly MetricReading[]>): void;
}
