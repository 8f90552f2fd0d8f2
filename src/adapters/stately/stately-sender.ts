/**
 * Shows an inspection in another inspector: what is recorded goes out as frames of @statelyai/inspect over a WebSocket.
 * It leaves the machine, so nothing is sent before the user was told what it is. Nothing is kept here for a receiver
 * that is away or slow: the recording is the buffer, and what it has forgotten before it could be sent is counted. The
 * recording program never waits for this.
 */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { SentFrames } from '../../machines/inspection-log/stately-sent-frames.ts';
import type { SentFrame } from '../../machines/inspection-log/stately-sent-frames.ts';
import { StatelyText } from '../../machines/inspection-log/stately-text.ts';
import { announcementOf, checkSenderOptions } from './sender-options.ts';
import type { CheckedSenderOptions, StatelySenderOptions } from './sender-options.ts';
import { SenderConnection } from './sender-connection.ts';

export interface StatelySenderStatistics {
  readonly isConnected: boolean;
  /** Given to the connection; whether they arrived is not known. */
  readonly sentFrames: number;
  /** Records that were forgotten by the recording before they could be sent. */
  readonly droppedRecords: number;
  /** Times that a connection was lost or could not be made. */
  readonly failures: number;
}

export interface StatelySender extends AsyncDisposable {
  readonly statistics: StatelySenderStatistics;
  /** Resolves when everything that is recorded now was given to the connection, or when it is closed. */
  drained(): Promise<void>;
  /** Sends no more, and disconnects. Idempotent. */
  close(): Promise<void>;
}

/** Records that are given to the connection before it is asked whether it has passed them on. */
const SLICE_RECORDS = 100;
const MAX_ACTORS = 10_000;

/**
 * Tells what leaves, then begins to connect. It goes on trying until it is closed.
 * @throws RuntimeError STATELY_SENDER_OPTIONS_INVALID, STATELY_SEND_REFUSED for an address that would show everything
 * on the way
 */
export async function createStatelySender(given: StatelySenderOptions): Promise<StatelySender> {
  const options = checkSenderOptions(given);
  // Before anything else: when the user could not be told, nothing leaves.
  await options.tell(announcementOf(options));
  return new Sending(options);
}

class Sending implements StatelySender {
  readonly #options: CheckedSenderOptions;
  readonly #clock: Clock;
  readonly #frames: SentFrames;
  readonly #leave: () => void;
  #connection: SenderConnection | undefined;
  #retry: TimerHandle | undefined;
  /** Of the next record to send. */
  #next: number;
  #isPumping = false;
  #isClosed = false;
  #isToldLost = false;
  /** Since the connection was lost that last held for a while. */
  #attempts = 0;
  /** Runs while a connection is open that has not held for a while yet. */
  #steadying: TimerHandle | undefined;
  /** The last one was closed soon after it was made: the next is told of when it has held. */
  #isUnsteady = false;
  #failures = 0;
  #sentFrames = 0;
  #dropped = 0;
  #toldDropped = 0;
  #waiting: { readonly upTo: number; readonly settle: () => void }[] = [];

  constructor(options: CheckedSenderOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#frames = new SentFrames({ text: new StatelyText(options.redact), maxActors: MAX_ACTORS });
    this.#next = options.from ?? 1;
    this.#leave = options.recording.follow(() => this.#pump());
    this.#connect();
  }

  get statistics(): StatelySenderStatistics {
    return {
      isConnected: this.#connection?.isOpen === true,
      sentFrames: this.#sentFrames,
      droppedRecords: this.#dropped,
      failures: this.#failures,
    };
  }

  async drained(): Promise<void> {
    const { last } = this.#options.recording.range();
    if (this.#isClosed || (this.#next > last && !this.#isPumping && this.#connection?.isOpen === true)) return;
    await new Promise<void>((settle) => {
      this.#waiting.push({ upTo: last, settle });
    });
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#leave();
      this.#clock.clearTimeout(this.#retry);
      this.#clock.clearTimeout(this.#steadying);
      for (const { settle } of this.#waiting) settle();
      this.#waiting = [];
    }
    await this.#connection?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #connect(): void {
    this.#connection = new SenderConnection(this.#options.address, {
      boot: this.#options.recording.header.boot,
      clock: this.#clock,
      onOpen: () => this.#opened(),
      onLost: (because) => this.#lost(because),
    });
  }

  #opened(): void {
    if (this.#isClosed) return;
    if (!this.#isUnsteady) this.#sayConnected();
    this.#steadying = this.#clock.setTimeout(() => this.#hasHeld(), this.#options.retry.longestMs);
    // The other side may be another program by now, which knows of no actor.
    this.#pump(this.#frames.again(this.#clock.now()));
  }

  #lost(because: string): void {
    if (this.#isClosed) return;
    const { firstMs, longestMs } = this.#options.retry;
    // One that lets us in and closes at once is no better than one that is not there.
    if (this.#steadying !== undefined) this.#isUnsteady = true;
    this.#clock.clearTimeout(this.#steadying);
    this.#steadying = undefined;
    this.#failures += 1;
    this.#attempts += 1;
    const most = Math.min(longestMs, firstMs * 2 ** Math.min(this.#attempts - 1, 30));
    const delayMs = Math.ceil(most / 2 + (most / 2) * Math.random());
    if (!this.#isToldLost)
      this.#say(
        `Not connected to ${this.#options.address.host}: ${because}. Trying again, with pauses of at most ${longestMs / 1_000} seconds.`,
      );
    this.#isToldLost = true;
    this.#retry = this.#clock.setTimeout(() => this.#connect(), delayMs);
  }

  #hasHeld(): void {
    this.#steadying = undefined;
    this.#isUnsteady = false;
    this.#attempts = 0;
    this.#sayConnected();
  }

  #sayConnected(): void {
    if (this.#isToldLost) this.#say(`Connected to ${this.#options.address.host}.`);
    this.#isToldLost = false;
  }

  #pump(first: readonly SentFrame[] = []): void {
    const connection = this.#connection;
    if (this.#isPumping || this.#isClosed || connection?.isOpen !== true) return;
    this.#isPumping = true;
    const done = (): void => {
      this.#isPumping = false;
      this.#settle();
      // What came after the last read, and a connection made meanwhile.
      if (this.#connection !== connection) this.#pump(this.#frames.again(this.#clock.now()));
      else if (connection.isOpen && this.#next <= this.#options.recording.range().last) this.#pump();
    };
    void this.#send(connection, first)
      .catch((error: unknown) => connection.fail(error))
      .finally(done);
  }

  async #send(connection: SenderConnection, first: readonly SentFrame[]): Promise<void> {
    await this.#give(connection, first);
    for await (const page of this.#options.recording.records(this.#next)) {
      for (const slice of slicesOf(page)) {
        if (!connection.isOpen || this.#isClosed) return;
        // Only what was passed on is behind us: the rest is sent again over the next connection.
        await this.#give(
          connection,
          slice.flatMap((record) => this.#frames.of(record)),
        );
        this.#passed(slice);
      }
    }
    this.#sayWhatWasDropped();
  }

  #passed(slice: readonly InspectionRecord[]): void {
    for (const { s } of slice) {
      this.#dropped += Math.max(0, s - this.#next);
      this.#next = Math.max(this.#next, s + 1);
    }
  }

  /** Resolves when the connection has passed them on, and others had their turn. */
  async #give(connection: SenderConnection, frames: readonly SentFrame[]): Promise<void> {
    if (frames.length === 0) return;
    await connection.send(frames.map((frame) => JSON.stringify(frame)));
    this.#sentFrames += frames.length;
  }

  #sayWhatWasDropped(): void {
    const count = this.#dropped - this.#toldDropped;
    if (count === 0) return;
    this.#toldDropped = this.#dropped;
    this.#say(`${count} records were forgotten before they could be sent to ${this.#options.address.host}.`);
  }

  #settle(): void {
    const isIdle = this.#connection?.isOpen === true;
    const met = this.#waiting.filter(({ upTo }) => isIdle && this.#next > upTo);
    this.#waiting = this.#waiting.filter((each) => !met.includes(each));
    for (const { settle } of met) settle();
  }

  /** It was told what leaves; that it does not want to hear more is its own affair. */
  #say(text: string): void {
    const told = async (): Promise<void> => this.#options.tell(text);
    told().catch(() => undefined);
  }
}

function slicesOf(page: readonly InspectionRecord[]): readonly (readonly InspectionRecord[])[] {
  return Array.from({ length: Math.ceil(page.length / SLICE_RECORDS) }, (_, index) =>
    page.slice(index * SLICE_RECORDS, (index + 1) * SLICE_RECORDS),
  );
}
