/** The definitions that were met, each read once, from any sender: programs of the same kind share their charts. */
import { beginningOf } from '../cut-text.ts';
import type { ChartDescription } from '../inspection/chart-description.ts';
import { MAX_NAME_CHARACTERS } from './inspection-record.ts';
import { readDefinition } from './stately-definition.ts';
import { TakenTransitions } from './stately-taken.ts';
import type { StatelyText } from './stately-text.ts';

/** Of all definitions together: what comes after them is not read. */
const MAX_CHARACTERS = 8 * 1_048_576;
const MAX_NOTES = 8;
const MAX_NOTED_NAME = 80;

export interface KnownChart {
  /** Unique in the recording. */
  readonly id: string;
  readonly chart: ChartDescription;
  readonly taken: TakenTransitions;
}

export class StatelyCharts {
  readonly #text: StatelyText;
  readonly #maxCharts: number;
  readonly #byDefinition = new Map<string, KnownChart | undefined>();
  readonly #byId = new Map<string, KnownChart>();
  readonly #notes: string[] = [];
  #characters = 0;
  /** Definitions that could not be read, or were too many. */
  #unread = 0;

  constructor(text: StatelyText, maxCharts: number) {
    this.#text = text;
    this.#maxCharts = maxCharts;
  }

  chart(id: string): ChartDescription | undefined {
    return this.#byId.get(id)?.chart;
  }

  /** A sentence each. */
  get notes(): readonly string[] {
    const more = this.#unread - this.#notes.length;
    return more > 0 ? [...this.#notes, `${more} more definitions of machines could not be read.`] : this.#notes;
  }

  /** @param name of the actor that brings it @returns undefined where there is no chart */
  of(definition: string, name: string): KnownChart | undefined {
    if (this.#byDefinition.has(definition)) return this.#byDefinition.get(definition);
    if (this.#characters + definition.length > MAX_CHARACTERS || this.#byDefinition.size >= this.#maxCharts) {
      this.#note('There are too many definitions of machines: actors of further ones are shown without charts.');
      return undefined;
    }
    this.#characters += definition.length;
    const known = this.#read(definition, name);
    this.#byDefinition.set(definition, known);
    return known;
  }

  #read(definition: string, name: string): KnownChart | undefined {
    const read = readDefinition(definition, this.#text);
    if ('noChart' in read) return undefined;
    const shown = `“${beginningOf(name, MAX_NOTED_NAME)}”`;
    if ('because' in read) {
      this.#note(`The definition of ${shown} could not be read: ${this.#text.message(read.because)}.`);
      return undefined;
    }
    if (read.isCut)
      this.#note(
        `The definition of ${shown} came with parts left out: give createWebSocketInspector a larger serializationDepthLimit.`,
      );
    const known = { id: this.#freeId(read.chart.id), chart: read.chart, taken: new TakenTransitions(read) };
    this.#byId.set(known.id, known);
    return known;
  }

  #note(sentence: string): void {
    this.#unread += 1;
    if (this.#notes.length < MAX_NOTES && !this.#notes.includes(sentence)) this.#notes.push(sentence);
  }

  /** Two charts may have the same id: then the second one is told under another. */
  #freeId(wanted: string): string {
    let id = wanted;
    for (let copy = 2; this.#byId.has(id); copy += 1) id = `${beginningOf(wanted, MAX_NAME_CHARACTERS - 10)}#${copy}`;
    return id;
  }
}
