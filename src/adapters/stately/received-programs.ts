/** All programs that have connected to one receiver, and what is to be said of them. */
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { beginningOf } from '../../machines/cut-text.ts';
import { StatelyCharts } from '../../machines/inspection-log/stately-charts.ts';
import { StatelyText } from '../../machines/inspection-log/stately-text.ts';
import { ReceivedProgram } from './received-program.ts';
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
