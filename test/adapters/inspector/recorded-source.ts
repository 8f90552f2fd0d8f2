/**
 * A source that keeps its last records, as a recorder does, and sessions whose requests are answered. What it says of
 * its sessions may be replaced.
 */
import type { InspectionAnswer, InspectionSource } from '../../../src/actors/inspection/inspection-source.ts';
import type { SendReceipt } from '../../../src/actors/session/ingress.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';

export const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';
const PAGE = 100;

export class RecordedSource implements InspectionSource {
  readonly header = { format: 'inspection-log/1', boot: 'b1', startedAt: 1_000 } as const;
  readonly charts = new Map([['task', describeChart(taskMachine)]]);
  readonly answers: { readonly sessionId: string; readonly answer: InspectionAnswer }[] = [];
  readonly #limit: number;
  readonly #records: InspectionRecord[] = [];
  readonly #listeners = new Set<() => void>();
  #newest = 0;

  constructor({ limit = 1_000_000 }: { readonly limit?: number } = {}) {
    this.#limit = limit;
  }

  get followers(): number {
    return this.#listeners.size;
  }

  add(count: number, message = 'said'): void {
    const batch = Array.from({ length: count }, (_, index): InspectionRecord => ({
      k: 'error',
      s: this.#newest + index + 1,
      t: 1_000,
      a: 'b1:x:0',
      message,
    }));
    this.push(batch);
  }

  push(batch: readonly InspectionRecord[]): void {
    this.#newest += batch.length;
    this.#records.push(...batch);
    this.#records.splice(0, Math.max(0, this.#records.length - this.#limit));
    for (const listener of this.#listeners) listener();
  }

  range(): { readonly first: number; readonly last: number } {
    return { first: this.#newest - this.#records.length + 1, last: this.#newest };
  }

  async *records(from: number): AsyncGenerator<readonly InspectionRecord[]> {
    // While a page is being read, more may come, and some may fall out.
    for (
      let next = Math.max(from, this.range().first);
      next <= this.#newest;
      next = Math.max(next, this.range().first)
    ) {
      const start = next - this.range().first;
      const page = this.#records.slice(start, start + PAGE);
      next += page.length;
      yield page;
    }
  }

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  chart(id: string): ReturnType<typeof describeChart> | undefined {
    return this.charts.get(id);
  }

  about: InspectionSource['about'] = () => ({
    kind: 'runtime',
    title: 'a recorded source',
    hasSessions: true,
    canAnswer: true,
    notes: [],
    hasEnded: false,
  });

  recordingOf: InspectionSource['recordingOf'] = async () => undefined;

  sessions: InspectionSource['sessions'] = async ({ limit }) => ({
    sessions: [{ sessionId: SESSION, agentId: 'reviewer', status: 'idle' as const, pendingActions: 1 }].slice(0, limit),
    total: 1,
  });

  session: InspectionSource['session'] = async () => undefined;

  events: InspectionSource['events'] = async () => undefined;

  processes: InspectionSource['processes'] = async () => [];

  changes: InspectionSource['changes'] = async () => [];

  answer: InspectionSource['answer'] = async (sessionId, answer) => {
    this.answers.push({ sessionId, answer });
    return receipt(this.answers.length);
  };
}

export function receipt(seq: number): SendReceipt {
  return { eventId: SESSION, seq, acceptedAs: 'queue', durability: 'memory' };
}
