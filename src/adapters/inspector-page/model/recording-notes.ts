/** What is missing of a recording in this tab, a sentence each. What is told again replaces what was told before. */
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { amount, counted } from './words.ts';

const NOTES = {
  started: () =>
    'The program was started anew. What is shown is of the new one; what the one before it did is gone from here.',
  begun: (first: number) =>
    `The ${counted(first - 1, 'record')} before number ${amount(first)} are missing: the recording program keeps only the newest.`,
  missed: (count: number) =>
    `${counted(count, 'record')} on the way ${count === 1 ? 'is' : 'are'} missing: ${count === 1 ? 'it was' : 'they were'} gone before they could be read.`,
  damaged: (count: number) => `${counted(count, 'record')} arrived damaged and ${count === 1 ? 'is' : 'are'} missing.`,
  forgotten: (first: number) =>
    `This tab keeps the newest records only. Those before number ${amount(first)} were dropped; how the actors stood then is known.`,
  emptied: (last: number) =>
    `This tab keeps only so many payloads. Those of the records up to number ${amount(last)} were dropped.`,
} as const;

export type NoteName = keyof typeof NOTES;

export class RecordingNotes {
  readonly #told = new Map<NoteName, number>();
  readonly #texts = signal<readonly string[]>([]);

  get texts(): ReadonlySignal<readonly string[]> {
    return this.#texts;
  }

  tell(name: NoteName, value = 0): void {
    if (this.#told.get(name) === value) return;
    this.#told.set(name, value);
    this.#texts.value = [...this.#told].map(([each, number]) => NOTES[each](number));
  }

  add(name: NoteName, count: number): void {
    if (count > 0) this.tell(name, (this.#told.get(name) ?? 0) + count);
  }

  clear(): void {
    this.#told.clear();
    this.#texts.value = [];
  }
}
