/** The records of all programs, in one order, the newest of them. */
import type { InspectionRange, InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import { RecordNotifier } from '../../actors/inspection/record-notifier.ts';
import { RememberedRecords } from '../../actors/inspection/remembered-records.ts';
import type { RememberedLimits } from '../../actors/inspection/remembered-records.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { INSPECTION_LOG_FORMAT } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectionHeader, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import type { UnnumberedRecord } from '../../machines/inspection-log/stately-records.ts';

export interface ReceivedRecordingOptions {
  readonly boot: string;
  readonly startedAt: number;
  readonly limits: RememberedLimits;
  readonly onProblem: (error: unknown) => void;
}

export class ReceivedRecording implements InspectionRecording {
  readonly header: InspectionHeader;
  readonly #kept: RememberedRecords;
  readonly #notifier: RecordNotifier;
  #next = 1;

  constructor({ boot, startedAt, limits, onProblem }: ReceivedRecordingOptions) {
    this.header = { format: INSPECTION_LOG_FORMAT, boot, startedAt };
    this.#kept = new RememberedRecords(limits);
    this.#notifier = new RecordNotifier(onProblem);
  }

  /** How many have fallen out. */
  get forgotten(): number {
    return this.#kept.dropped;
  }

  /** @param t milliseconds since the epoch */
  add(records: readonly UnnumberedRecord[], t: number): void {
    for (const each of records) {
      // Spread over a union TypeScript keeps apart by kind; number and time are what all kinds share.
      const record = { s: this.#next, t, ...each } as InspectionRecord;
      this.#next += 1;
      this.#kept.add([record], JSON.stringify(record).length);
    }
    if (records.length > 0) this.#notifier.notify();
  }

  range(): InspectionRange {
    return this.#kept.range;
  }

  chart(id: string): ChartDescription | undefined {
    return this.#kept.chart(id);
  }

  records(from: number): AsyncIterable<readonly InspectionRecord[]> {
    return this.#kept.read(from);
  }

  follow(listener: () => void): () => void {
    return this.#notifier.add(listener);
  }
}
