/**
 * One recording in this page: what there is of it is loaded, then followed. It survives whatever becomes of the server: what was read stays, and the
 * phase says what is missing.
 */
import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { InspectionHeader, InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import { followRecords } from './live-records.ts';
import type { LiveEnd } from './live-records.ts';
import { RecordLines } from './record-lines.ts';
import { RequestFailure, recordingPath, request } from './transport.ts';

export type RecordingPhase =
  /** What was recorded is being read. */
  | { readonly name: 'loading' }
  /** New records come as they are made. */
  | { readonly name: 'following' }
  /** The server does not answer; it is asked again and again. */
  | { readonly name: 'lost'; readonly since: number }
  /** Nothing comes any more, and why. */
  | { readonly name: 'ended'; readonly because: string; readonly hint: string };

/** For so long records are taken in one go, in milliseconds; then the page may paint and answer keys. */
const STRETCH_MS = 8;
const AT_A_TIME = 500;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export class Recording {
  /** Empty for the main one, else the id of a session. */
  readonly id: string;
  readonly #version = signal(0);
  readonly #phase = signal<RecordingPhase>({ name: 'loading' });
  readonly #notes = signal<readonly string[]>([]);
  #timeline = new InspectionTimeline();
  #header: InspectionHeader | undefined;
  #isUpdateDue = false;
  #left = new AbortController();

  constructor(id: string) {
    this.id = id;
    void this.#run();
  }

  /** What there is, for a computation or a pane: it is done again, at most once a frame, when there is more. `version` rises with every change. */
  get watched(): { readonly timeline: InspectionTimeline; readonly version: number } {
    return { timeline: this.#timeline, version: this.#version.value };
  }

  get phase(): ReadonlySignal<RecordingPhase> {
    return this.#phase;
  }

  /** What is missing or was lost on the way here, a sentence each. */
  get notes(): ReadonlySignal<readonly string[]> {
    return this.#notes;
  }

  /** The same for whoever only asks once. It is another one after the program was started anew. */
  get timeline(): InspectionTimeline {
    return this.#timeline;
  }

  get header(): InspectionHeader | undefined {
    return this.#header;
  }

  leave(): void {
    this.#left.abort();
  }

  async #run(): Promise<void> {
    const { signal: left } = this.#left;
    let wait = FIRST_WAIT_MS;
    while (!left.aborted) {
      try {
        await this.#load();
        wait = FIRST_WAIT_MS;
        this.#phase.value = { name: 'following' };
        const end = await followRecords({ recording: this.id, from: (this.#timeline.last?.s ?? 0) + 1, boot: this.#header?.boot ?? '', left, onRecords: (records) => this.#add(records), onLost: () => this.#lose(), onBack: () => this.#comeBack() });
        if (this.#isOver(end)) return;
      } catch (error) {
        if (left.aborted || this.#isRefused(error)) return;
        this.#lose();
        await pause(wait, left);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      }
    }
  }

  /** What is here already is not asked for again, unless it is of another program. */
  async #load(): Promise<void> {
    const from = (this.#timeline.last?.s ?? 0) + 1;
    const response = await request(recordingPath('records', this.id, from), { signal: this.#left.signal });
    const lines = new RecordLines();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const records = lines.read(piece.value);
      if (this.#isOfAnother(lines.header)) return this.#beginAnew(reader);
      await this.#addAll(records);
    }
    await this.#addAll(lines.end());
    this.#header ??= lines.header;
    if (lines.damaged > 0) this.#note(`${lines.damaged} lines of the history arrived damaged and are missing.`);
    this.#touch();
  }

  #isOfAnother(header: InspectionHeader | undefined): boolean {
    if (header === undefined) return false;
    this.#header ??= header;
    return header.boot !== this.#header.boot;
  }

  async #beginAnew(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    await reader.cancel().catch(() => undefined);
    this.#reset('The program was started anew. What is shown is of the new one; what the one before it did is gone from here.');
    return this.#load();
  }

  #reset(note: string): void {
    this.#timeline = new InspectionTimeline();
    this.#header = undefined;
    this.#notes.value = [note];
    this.#touch();
  }

  /** Many records take long: the page stays usable meanwhile. */
  async #addAll(records: readonly InspectionRecord[]): Promise<void> {
    let begun = performance.now();
    for (let at = 0; at < records.length; at += AT_A_TIME) {
      this.#add(records.slice(at, at + AT_A_TIME));
      if (performance.now() - begun < STRETCH_MS) continue;
      await nextTask();
      begun = performance.now();
    }
  }

  #add(records: readonly InspectionRecord[]): void {
    const expected = (this.#timeline.last?.s ?? 0) + 1;
    this.#timeline.append(records);
    const first = records[0]?.s ?? expected;
    if (expected > 1 && first > expected) this.#note(`${first - expected} records before number ${first} are missing: they were gone before they could be read.`);
    this.#touch();
  }

  #note(text: string): void {
    this.#notes.value = [...this.#notes.value.filter((each) => each !== text), text].slice(-20);
  }

  /** Once a frame. A hidden page paints nothing, and is brought up to date when it is looked at again. */
  #touch(): void {
    if (this.#isUpdateDue) return;
    this.#isUpdateDue = true;
    const update = (): void => {
      this.#isUpdateDue = false;
      this.#version.value += 1;
    };
    if (document.visibilityState === 'visible') requestAnimationFrame(update);
    else setTimeout(update, 0);
  }

  #lose(): void {
    if (this.#phase.value.name !== 'lost') this.#phase.value = { name: 'lost', since: Date.now() };
  }

  #comeBack(): void {
    this.#phase.value = { name: 'following' };
  }

  #isOver(end: LiveEnd): boolean {
    if (end === 'left') return true;
    if (end === 'other_program') this.#reset('The program was started anew. What is shown is of the new one; what the one before it did is gone from here.');
    return false;
  }

  /** Asking again would be answered the same. */
  #isRefused(error: unknown): boolean {
    if (!(error instanceof RequestFailure) || error.status === 0 || error.status >= 500) return false;
    this.#phase.value = { name: 'ended', because: error.message, hint: error.hint };
    return true;
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    port2.postMessage(undefined);
  });
}

function pause(forMs: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, forMs);
    left.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
