/** All programs that have connected to one receiver, and what is to be said of them. */
import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { beginningOf } from '../../machines/cut-text.ts';
import { StatelyCharts } from '../../machines/inspection-log/stately-charts.ts';
import { readStatelyFrame } from '../../machines/inspection-log/stately-frames.ts';
import { StatelyRecords } from '../../machines/inspection-log/stately-records.ts';
import { StatelyText } from '../../machines/inspection-log/stately-text.ts';
import { ReceivedRecording } from './received-recording.ts';
import type { CheckedReceiverOptions } from './receiver-options.ts';

export interface StatelyReceiverStatistics {
  /** Connected now. */
  readonly programs: number;
  /** Connections that were refused. */
  readonly refused: number;
  readonly frames: number;
  /** Frames that could not be read, or were about more actors than are kept. */
  readonly lostFrames: number;
}

const MAX_ORIGIN_CHARACTERS = 120;

export class ReceivedPrograms {
  readonly recording: ReceivedRecording;
  readonly #options: CheckedReceiverOptions;
  readonly #boot: string;
  readonly #text: StatelyText;
  readonly #charts: StatelyCharts;
  readonly #toldCharts = new Set<string>();
  readonly #open = new Set<ReceivedProgram>();
  #programs = 0;
  #events = 0;
  #refused = 0;
  /** Of those that have left. */
  #frames = 0;
  #lostFrames = 0;
  #complaint: string | undefined;
  #unknownType: string | undefined;
  /** Of the last page that was refused. */
  #refusedOrigin: string | undefined;
  isClosed = false;

  constructor(options: CheckedReceiverOptions & { readonly boot: string }) {
    this.#options = options;
    this.#boot = options.boot;
    this.#text = new StatelyText(options.redact);
    this.#charts = new StatelyCharts(this.#text, options.limits.charts);
    this.recording = new ReceivedRecording({
      boot: options.boot,
      startedAt: options.clock.now(),
      limits: options.limits,
      onProblem: options.onProblem,
    });
  }

  get connected(): number {
    return this.#open.size;
  }

  get statistics(): StatelyReceiverStatistics {
    const open = [...this.#open];
    return {
      programs: open.length,
      refused: this.#refused,
      frames: this.#frames + open.reduce((sum, { frames }) => sum + frames, 0),
      lostFrames: this.#lostFrames + open.reduce((sum, { lostFrames }) => sum + lostFrames, 0),
    };
  }

  /** A sentence each. */
  get notes(): readonly string[] {
    const { programs, lostFrames } = this.statistics;
    const { forgotten } = this.recording;
    const complaint = this.#complaint ?? [...this.#open].find((each) => each.complaint !== undefined)?.complaint;
    const unknown = this.#unknownType ?? [...this.#open].find((each) => each.unknownType !== undefined)?.unknownType;
    return [
      this.#programs === 0
        ? 'No program has connected yet.'
        : `${programs} of ${this.#programs} programs that have connected ${programs === 1 ? 'is' : 'are'} connected.`,
      ...(lostFrames === 0
        ? []
        : [
            `${lostFrames} frames are not shown${complaint === undefined ? '' : `; the first that could not be read: ${this.#text.message(complaint)}`}.`,
          ]),
      ...(unknown === undefined
        ? []
        : [`There are frames of a type that is not known here: ${this.#text.name(unknown)}.`]),
      ...(forgotten === 0 ? [] : [`${forgotten} older records were forgotten.`]),
      ...(this.#refusedOrigin === undefined
        ? []
        : [
            `A page of ${this.#refusedOrigin} wanted to connect and was refused: it may after a start with --stately-origin.`,
          ]),
      ...this.#charts.notes,
    ];
  }

  refuse({ headers }: IncomingMessage): void {
    this.#refused += 1;
    if (headers.origin !== undefined && !this.#options.origins.includes(headers.origin))
      this.#refusedOrigin = this.#text.name(beginningOf(headers.origin, MAX_ORIGIN_CHARACTERS));
  }

  add(socket: WebSocket, title: string | undefined): void {
    this.#programs += 1;
    const number = this.#programs;
    const program: ReceivedProgram = new ReceivedProgram(socket, {
      boot: `${this.#boot}.${number}`,
      title: this.#text.name(title === undefined ? `program ${number}` : `${title} (program ${number})`),
      recording: this.recording,
      charts: this.#charts,
      text: this.#text,
      maxActors: this.#options.limits.actors,
      nextEvent: () => (this.#events += 1),
      isNewChart: (id) => {
        const isNew = !this.#toldCharts.has(id);
        this.#toldCharts.add(id);
        return isNew;
      },
      now: () => this.#options.clock.now(),
      onEnd: () => this.#forget(program),
    });
    this.#open.add(program);
  }

  close(): void {
    this.isClosed = true;
    for (const program of this.#open) program.stop();
  }

  #forget(program: ReceivedProgram): void {
    if (!this.#open.delete(program)) return;
    this.#frames += program.frames;
    this.#lostFrames += program.lostFrames;
    this.#complaint ??= program.complaint;
    this.#unknownType ??= program.unknownType;
  }
}

/** After so many it speaks another language. */
const MAX_UNREADABLE = 1_000;
const DAY_MS = 86_400_000;

/** The codes of the WebSocket protocol. */
const NORMAL = 1_000;
const GOING_AWAY = 1_001;
const NO_CODE = 1_005;
const BROKEN_OFF = 1_006;
const POLICY = 1_008;

interface ProgramParts {
  readonly boot: string;
  readonly title: string;
  readonly recording: ReceivedRecording;
  readonly charts: StatelyCharts;
  readonly text: StatelyText;
  readonly maxActors: number;
  readonly nextEvent: () => number;
  readonly isNewChart: (id: string) => boolean;
  readonly now: () => number;
  readonly onEnd: () => void;
}

/** One program that has connected: its frames go into the recording until its connection ends. */
class ReceivedProgram {
  readonly #socket: WebSocket;
  readonly #parts: ProgramParts;
  readonly #records: StatelyRecords;
  #failure: string | undefined;
  #hasEnded = false;
  frames = 0;
  unreadable = 0;
  /** The first complaint about a frame. */
  complaint: string | undefined;
  /** A type of frame that is unknown here. */
  unknownType: string | undefined;

  constructor(socket: WebSocket, parts: ProgramParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#records = new StatelyRecords(parts);
    parts.recording.add(this.#records.begin(), parts.now());
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('error', (error) => {
      this.#failure = `The connection was ended: ${error.message}.`;
    });
    socket.on('close', (code) => this.#end(reasonOf(code)));
  }

  get lostFrames(): number {
    return this.unreadable + this.#records.lostFrames;
  }

  /** Ends it at once. */
  stop(): void {
    this.#socket.terminate();
    this.#end(undefined);
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (this.#hasEnded) return;
    this.frames += 1;
    const read = isBinary ? { because: 'expected text' } : readStatelyFrame(textOf(data));
    if ('frame' in read) {
      this.#parts.recording.add(this.#records.see(read.frame), this.#timeOf(read.frame.createdAt));
      return;
    }
    if ('unknownType' in read) {
      this.unknownType ??= read.unknownType;
      return;
    }
    this.unreadable += 1;
    this.complaint ??= read.because;
    if (this.unreadable < MAX_UNREADABLE) return;
    this.#failure = `It was disconnected after ${MAX_UNREADABLE} frames that could not be read: ${this.complaint}.`;
    this.#socket.close(POLICY, 'too many frames that could not be read');
    this.#end(undefined);
  }

  #end(because: string | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#parts.recording.add(this.#records.end(this.#failure ?? because), this.#parts.now());
    this.#parts.onEnd();
  }

  /**
   * When the program says that it was, unless that cannot be. What it kept back while no inspector listened is older
   * than its connection.
   */
  #timeOf(createdAt: string | undefined): number {
    const now = this.#parts.now();
    const said = createdAt !== undefined && /^\d{1,16}$/.test(createdAt) ? Number(createdAt) : now;
    return said <= now && said >= now - DAY_MS && said >= 0 ? said : now;
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

/** @returns undefined where it ended as connections do */
function reasonOf(code: number): string | undefined {
  if (code === NORMAL || code === GOING_AWAY || code === NO_CODE) return undefined;
  return code === BROKEN_OFF
    ? 'The connection broke off, as it does when a program ends without closing it.'
    : `The connection ended with code ${code}.`;
}
