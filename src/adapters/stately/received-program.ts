/** One program that has connected: its frames go into the recording until its connection ends. */
import type { RawData, WebSocket } from 'ws';
import type { StatelyCharts } from '../../machines/inspection-log/stately-charts.ts';
import { readStatelyFrame } from '../../machines/inspection-log/stately-frames.ts';
import { StatelyRecords } from '../../machines/inspection-log/stately-records.ts';
import type { StatelyText } from '../../machines/inspection-log/stately-text.ts';
import type { ReceivedRecording } from './received-recording.ts';

/** After so many it speaks another language. */
const MAX_UNREADABLE = 1_000;
const DAY_MS = 86_400_000;

/** The codes of the WebSocket protocol. */
const NORMAL = 1_000;
const GOING_AWAY = 1_001;
const NO_CODE = 1_005;
const BROKEN_OFF = 1_006;
const POLICY = 1_008;

export interface ProgramParts {
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

export class ReceivedProgram {
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
