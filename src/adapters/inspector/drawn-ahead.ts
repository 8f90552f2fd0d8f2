/**
 * Draws charts before a page asks for them, one after the other: those of the actors that there are from the start on,
 * and those of other recordings when a page is told of them. So a chart is there at once when its actor is chosen.
 */
import type { InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { pause } from '../system/waiting.ts';
import type { ChartPictures } from './inspector-options.ts';

/** While no page is open, as long as a drawing took nothing is drawn after it: the inspected work needs the processor too. */
const MOST_REST_MS = 10_000;
/** A program that ends sooner is not made slower by a drawing that no page asked for. */
const FIRST_REST_MS = 1_000;
/** Of one server: the logs of strangers may hold thousands of charts. */
const MOST = 64;

export class DrawnAhead {
  readonly #pictures: ChartPictures;
  readonly #known = new Set<string>();
  #drawing: Promise<void> | undefined;
  #leave: () => void = () => undefined;
  #isClosed = false;
  /** Aborted: a page is open, or none will be. */
  readonly #hurry = new AbortController();

  constructor(pictures: ChartPictures) {
    this.#pictures = pictures;
  }

  /** From now on, until it is closed. Of a recording that does not tell its charts, those that pages hear of. */
  follow(recording: Pick<InspectionRecording, 'toldCharts' | 'follow'>): void {
    if (recording.toldCharts === undefined) return;
    let seen = 0;
    const check = (): void => {
      const all = recording.toldCharts?.();
      if (all === undefined || all.size === seen) return;
      seen = all.size;
      for (const chart of all.values()) this.#add(chart);
    };
    this.#leave = recording.follow(check);
    check();
  }

  /** A page hears of these records. */
  see(records: readonly InspectionRecord[]): void {
    for (const record of records) if (record.k === 'machine') this.#add(record.chart);
  }

  /** A page is open. Idempotent. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** What waits is not drawn any more. */
  close(): void {
    this.#isClosed = true;
    this.#hurry.abort();
    this.#leave();
  }

  #add(chart: ChartDescription): void {
    if (this.#known.size >= MOST) return;
    const hash = this.#hashOf(chart);
    if (hash === undefined || this.#known.has(hash)) return;
    this.#known.add(hash);
    this.#drawing = (this.#drawing ?? this.#rest(FIRST_REST_MS)).then(() => this.#draw(chart));
  }

  /** Undefined: it is none that could be drawn, which is told to the page that asks for it. */
  #hashOf(chart: ChartDescription): string | undefined {
    try {
      return this.#pictures.hash(chart);
    } catch {
      return undefined;
    }
  }

  async #draw(chart: ChartDescription): Promise<void> {
    if (this.#isClosed) return;
    const begun = performance.now();
    // What fails is drawn again when it is asked for, and told then.
    await this.#pictures.draw(chart).catch(() => undefined);
    await this.#rest(Math.min(MOST_REST_MS, performance.now() - begun));
  }

  async #rest(ms: number): Promise<void> {
    if (!this.#hurry.signal.aborted) await pause(ms, { signal: this.#hurry.signal, keepsAlive: false });
  }
}
