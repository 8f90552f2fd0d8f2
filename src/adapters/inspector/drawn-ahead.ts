/**
 * Draws the charts that a page has been told of before it asks for them, one after the other: a chart is there at once
 * when its actor is chosen. Nothing is drawn while no page is open.
 */
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import type { ChartPictures } from './inspector-options.ts';

/** Of one server: the logs of strangers may hold thousands of charts. */
const MOST = 64;

export class DrawnAhead {
  readonly #pictures: ChartPictures;
  readonly #known = new Set<string>();
  #drawing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(pictures: ChartPictures) {
    this.#pictures = pictures;
  }

  /** A page hears of these records. */
  see(records: readonly InspectionRecord[]): void {
    for (const record of records) if (record.k === 'machine') this.#add(record.chart);
  }

  /** What waits is not drawn any more. */
  close(): void {
    this.#isClosed = true;
  }

  #add(chart: ChartDescription): void {
    if (this.#known.size >= MOST) return;
    const hash = this.#hashOf(chart);
    if (hash === undefined || this.#known.has(hash)) return;
    this.#known.add(hash);
    this.#drawing = this.#drawing.then(() => this.#draw(chart));
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
    // What fails is drawn again when it is asked for, and told then.
    await this.#pictures.draw(chart).catch(() => undefined);
  }
}
