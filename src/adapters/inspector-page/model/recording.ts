/**
 * One recording in this page: what there is of it is loaded, then followed. It survives whatever becomes of the server:
 * what was read stays, and the phase says what is missing.
 */
import type { ReadonlySignal } from '@preact/signals';
import { signal } from '@preact/signals';
import type { InspectedSpeech } from '../../../actors/inspection/inspection-source.ts';
import type { InspectionHeader, InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import { Attention } from './attention.ts';
import { followRecords } from './live-records.ts';
import { RecordLines } from './record-lines.ts';
import { isRefusal, recordingPath, request } from './transport.ts';
import { eitherOf, nextTask, pause, readSoon, signedIn } from './waits.ts';
import { amount, counted } from './words.ts';

// What is missing of a recording in this tab, a sentence each. What is told again replaces what was told before.

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

type NoteName = keyof typeof NOTES;

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

// Bounds what the payloads of one recording take up in this tab: those of the oldest records are dropped, the records
// themselves stay.

/** In characters of JSON, of all records together. As objects they take two to three times as many bytes. */
const MOST_CHARACTERS = 256 * 1_048_576;
const PAYLOADS = ['data', 'context', 'params', 'output'] as const;

export class PayloadBudget {
  readonly #most: number;
  #pieces: { readonly records: readonly InspectionRecord[]; readonly characters: number }[] = [];
  #characters = 0;

  constructor(most = MOST_CHARACTERS) {
    this.#most = most;
  }

  /**
   * @param characters of all of them as JSON @returns the number of the last record whose payload was dropped by this
   */
  add(records: readonly InspectionRecord[], characters: number): number | undefined {
    this.#pieces.push({ records, characters });
    this.#characters += characters;
    let gone = 0;
    while (this.#characters > this.#most && gone < this.#pieces.length - 1) {
      const oldest = this.#pieces[gone];
      this.#characters -= oldest?.characters ?? 0;
      for (const record of oldest?.records ?? []) dropPayloads(record);
      gone += 1;
    }
    if (gone === 0) return undefined;
    const last = this.#pieces[gone - 1]?.records.at(-1)?.s;
    this.#pieces = this.#pieces.slice(gone);
    return last;
  }
}

function dropPayloads(record: InspectionRecord): void {
  for (const name of PAYLOADS) {
    if (!Object.hasOwn(record, name)) continue;
    Reflect.deleteProperty(record, name);
    Object.assign(record, { cut: true });
  }
}

export type RecordingPhase =
  /** What was recorded is being read. */
  | { readonly name: 'loading' }
  /** New records come as they are made. */
  | { readonly name: 'following' }
  /** The server does not answer; it is asked again and again. */
  | { readonly name: 'lost'; readonly since: number }
  /** Nothing comes any more, and why. It goes on by itself where the user only has to sign in. */
  | { readonly name: 'ended'; readonly because: string; readonly hint: string };

/** For so long records are taken in one go, in milliseconds; then the page may paint and answer keys. */
const STRETCH_MS = 8;
const AT_A_TIME = 500;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** What was followed for less ended at once: asking again without a pause would go on for ever. */
const FOLLOWED_MS = 2_000;
/** While much is read, what is shown is brought up to date so often. */
const UPDATE_WHILE_LOADING_MS = 250;
/** More is more than a tab can bear. */
const MOST_RECORDS = 1_000_000;
const SIGNED_OUT = 401;

export class Recording {
  /** Empty for the main one, else the id of a session. */
  readonly id: string;
  readonly #left = new AbortController();
  readonly #attention: Attention;
  readonly #version = signal(0, {
    watched: () => this.#attention.watch(true),
    unwatched: () => this.#attention.watch(false),
  });
  readonly #phase = signal<RecordingPhase>({ name: 'loading' });
  readonly #notes = new RecordingNotes();
  readonly #speech = signal<InspectedSpeech | undefined>(undefined);
  #timeline = new InspectionTimeline({ maxRecords: MOST_RECORDS });
  #payloads = new PayloadBudget();
  #header: InspectionHeader | undefined;
  #isUpdateDue = false;
  #stalled = new AbortController();
  /** Where the server was ahead of what came, and where this was then. */
  #behind: { readonly last: number; readonly here: number } | undefined;

  constructor(id: string) {
    this.id = id;
    this.#attention = new Attention(id === '', this.#left.signal);
    void this.#run();
  }

  /**
   * What there is, for a computation or a pane: it is done again, at most once a frame, when there is more. `version`
   * rises with every change.
   */
  get watched(): { readonly timeline: InspectionTimeline; readonly version: number } {
    return { timeline: this.#timeline, version: this.#version.value };
  }

  get phase(): ReadonlySignal<RecordingPhase> {
    return this.#phase;
  }

  /** What is said right now, where that is heard. */
  get speech(): ReadonlySignal<InspectedSpeech | undefined> {
    return this.#speech;
  }

  /** What is missing or was lost on the way here, a sentence each. */
  get notes(): ReadonlySignal<readonly string[]> {
    return this.#notes.texts;
  }

  /** The same for a caller that only asks once. It is another one after the program was started anew. */
  get timeline(): InspectionTimeline {
    return this.#timeline;
  }

  get header(): InspectionHeader | undefined {
    return this.#header;
  }

  leave(): void {
    this.#left.abort();
  }

  /**
   * The server says how far it is. Where nothing of it comes, the connection is dead without saying so: it is made
   * anew. @param last number of its newest record
   */
  hear(last: number): void {
    const here = this.#timeline.last?.s ?? 0;
    if (this.#phase.value.name !== 'following' || last <= here) this.#behind = undefined;
    else if (this.#behind?.here !== here) this.#behind = { last, here };
    else this.#stalled.abort();
  }

  async #run(): Promise<void> {
    const { signal: left } = this.#left;
    let wait = FIRST_WAIT_MS;
    while (!left.aborted) {
      const isSteady = await this.#session().catch(async (error: unknown) => {
        if (left.aborted) return false;
        if (await this.#isRefused(error)) this.#left.abort();
        return false;
      });
      if (left.aborted) return;
      wait = isSteady ? FIRST_WAIT_MS : Math.min(wait * 2, LONGEST_WAIT_MS);
      if (!isSteady) await pause(wait / 2, left);
    }
  }

  /** Loads and follows, until it has to be done anew. @returns whether it went well for a while */
  async #session(): Promise<boolean> {
    await this.#attention.returned();
    await this.#load();
    this.#phase.value = { name: 'following' };
    this.#stalled = new AbortController();
    this.#behind = undefined;
    const begun = performance.now();
    const end = await followRecords({
      recording: this.id,
      from: (this.#timeline.last?.s ?? 0) + 1,
      boot: this.#header?.boot ?? '',
      left: eitherOf(this.#attention.rest, this.#stalled.signal),
      onRecords: (records, characters) => this.#add(records, characters),
      onSpeech: (speech) => {
        this.#speech.value = speech;
      },
      onLost: () => {
        this.#speech.value = undefined;
        this.#lose();
      },
      onBack: () => {
        this.#phase.value = { name: 'following' };
      },
    });
    this.#speech.value = undefined;
    if (end === 'other_program') this.#reset();
    return performance.now() - begun > FOLLOWED_MS;
  }

  /** What is here already is not asked for again, unless it is of another program. */
  async #load(): Promise<void> {
    const from = (this.#timeline.last?.s ?? 0) + 1;
    const response = await request(recordingPath('records', this.id, from), { signal: this.#left.signal });
    const lines = new RecordLines();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let piece = await readSoon(reader); !piece.done; piece = await readSoon(reader)) {
      const records = lines.read(piece.value);
      if (this.#isOfAnother(lines.header)) {
        await reader.cancel().catch(() => undefined);
        this.#reset();
        return this.#load();
      }
      await this.#addAll(records, piece.value.length);
    }
    await this.#addAll(lines.end(), 0);
    this.#notes.add('damaged', lines.damaged);
    this.#touch();
  }

  #isOfAnother(header: InspectionHeader | undefined): boolean {
    if (header === undefined) return false;
    this.#header ??= header;
    return header.boot !== this.#header.boot;
  }

  #reset(): void {
    this.#timeline = new InspectionTimeline({ maxRecords: MOST_RECORDS });
    this.#payloads = new PayloadBudget();
    this.#header = undefined;
    this.#notes.clear();
    this.#notes.tell('started');
    this.#phase.value = { name: 'loading' };
    this.#touch();
  }

  /** Many records take long: the page stays usable meanwhile. */
  async #addAll(records: readonly InspectionRecord[], characters: number): Promise<void> {
    let begun = performance.now();
    for (let at = 0; at < records.length; at += AT_A_TIME) {
      const some = records.slice(at, at + AT_A_TIME);
      this.#add(some, (characters * some.length) / records.length);
      if (performance.now() - begun < STRETCH_MS) continue;
      await nextTask();
      begun = performance.now();
    }
  }

  #add(records: readonly InspectionRecord[], characters: number): void {
    const before = this.#timeline.last?.s;
    const added = this.#append(records);
    const [first, last] = [records[0]?.s ?? 0, this.#timeline.last?.s ?? 0];
    if (before === undefined && first > 1) this.#notes.tell('begun', first);
    this.#notes.add('missed', last - (before ?? first - 1) - added);
    const emptied = this.#payloads.add(records, characters);
    if (emptied !== undefined) this.#notes.tell('emptied', emptied);
    this.#touch();
  }

  /** One that cannot be taken does not take the others with it. @returns how many were taken */
  #append(records: readonly InspectionRecord[]): number {
    try {
      return this.#timeline.append(records);
    } catch {
      let added = 0;
      for (const record of records.filter(({ s }) => s > (this.#timeline.last?.s ?? 0))) {
        try {
          added += this.#timeline.append([record]);
        } catch {
          this.#notes.add('damaged', 1);
        }
      }
      return added;
    }
  }

  /** Once a frame. A hidden page paints nothing, and is brought up to date when it is watched again. */
  #touch(): void {
    if (this.#isUpdateDue) return;
    this.#isUpdateDue = true;
    const update = (): void => {
      this.#isUpdateDue = false;
      this.#version.value += 1;
      const first = this.#timeline.first?.s ?? 1;
      if ((this.#timeline.last?.s ?? 0) > MOST_RECORDS && first > 1 && this.#timeline.length >= MOST_RECORDS)
        this.#notes.tell('forgotten', first);
    };
    if (this.#phase.value.name === 'loading')
      setTimeout(update, this.#version.peek() === 0 ? 0 : UPDATE_WHILE_LOADING_MS);
    else if (document.visibilityState === 'visible') requestAnimationFrame(update);
    else setTimeout(update, 0);
  }

  #lose(): void {
    if (this.#phase.value.name !== 'lost') this.#phase.value = { name: 'lost', since: Date.now() };
  }

  /** Whether asking again would be answered the same for ever. */
  async #isRefused(error: unknown): Promise<boolean> {
    if (!isRefusal(error)) {
      this.#lose();
      return false;
    }
    this.#phase.value = { name: 'ended', because: error.message, hint: error.hint };
    if (error.status !== SIGNED_OUT) return true;
    // The user may sign in again in another tab, which holds for this one too.
    await signedIn(this.#left.signal);
    this.#phase.value = { name: 'loading' };
    return false;
  }
}
