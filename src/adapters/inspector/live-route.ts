/**
 * Records as they are made, as server-sent events.
 *
 * Nothing is kept for a client: each is at a number of its own in what the recording has, and is given what came since
 * as fast as it reads. One that falls behind what the recording still has is told to load anew, with event `reload`.
 */
import type { InspectedSpeech, InspectionRecording, SpeechFeed } from '../../actors/inspection/inspection-source.ts';
import type { DrawnAhead } from './drawn-ahead.ts';
import { PacedStream } from './paced-stream.ts';
import { portionsOf } from './record-text.ts';
import type { Exchange } from './respond.ts';
import { begin } from './respond.ts';

/** Waits until it is notified, or until it was quiet for so long that something should be said. */

class HeartbeatSignal {
  readonly #beat: NodeJS.Timeout;
  #isNotified = false;
  #isQuiet = false;
  #answer: (() => void) | undefined = undefined;

  /** @param quietMs how often `wait` ends without a notification @param gone ends every wait */
  constructor(quietMs: number, gone: AbortSignal) {
    this.#beat = setInterval(() => {
      this.#isQuiet = true;
      this.#answer?.();
    }, quietMs);
    gone.addEventListener('abort', () => this.notify(), { once: true });
  }

  notify(): void {
    this.#isNotified = true;
    this.#answer?.();
  }

  /** What came before counts. One at a time. */
  async wait(): Promise<'notified' | 'quiet'> {
    if (!this.#isNotified && !this.#isQuiet) await new Promise<void>((resolve) => (this.#answer = resolve));
    this.#answer = undefined;
    const isQuiet = this.#isQuiet;
    this.#isNotified = false;
    this.#isQuiet = false;
    return isQuiet ? 'quiet' : 'notified';
  }

  close(): void {
    clearInterval(this.#beat);
    this.notify();
  }
}

/** Pieces come far faster than a person reads. */
const SPEECH_MS = 100;

/** Tells what is said now, each time all of it, and not more often than it can be read. */
class SpeechTeller {
  readonly #speech: SpeechFeed | undefined;
  readonly #unfollow: (() => void) | undefined;
  #told = 'null';
  #isDue = true;
  #timer: NodeJS.Timeout | undefined;

  /** @param ring is called when there is something to tell */
  constructor(speech: SpeechFeed | undefined, ring: () => void) {
    this.#speech = speech;
    this.#unfollow = speech?.follow(() => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#isDue = true;
        ring();
      }, SPEECH_MS);
    });
  }

  /** Null: nothing is said any more. Undefined: nothing new is to be told. */
  next(): InspectedSpeech | null | undefined {
    if (!this.#isDue) return undefined;
    this.#isDue = false;
    const said = this.#speech?.now() ?? null;
    const text = JSON.stringify(said);
    if (text === this.#told) return undefined;
    this.#told = text;
    return said;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unfollow?.();
  }
}

/** When a browser tries again after its connection broke, in milliseconds. */
const RETRY_MS = 1_000;

/** Of pairs that are none, which no encoding has. */
const HALF_CHARACTERS = /\p{Surrogate}/gu;

export interface LiveOptions {
  readonly recording: InspectionRecording;
  readonly ahead: DrawnAhead;
  /** Number of the first record that the client does not have. Absent: the next that is made. */
  readonly from: number | undefined;
  /** What the client read last, `<boot, encoded>:<number>`: it goes on after that. */
  readonly lastEventId: string | undefined;
  readonly heartbeatMs: number;
  /** What is said beside the recording. Absent: nothing is heard. */
  readonly speech?: SpeechFeed | undefined;
}

type ReloadReason = 'other_program' | 'too_far_behind' | 'from_the_future';

/** Until the client or the server leaves. */
export async function sendLive(
  exchange: Exchange,
  { recording, ahead, from, lastEventId, heartbeatMs, speech }: LiveOptions,
): Promise<void> {
  const { request, response } = exchange;
  begin(exchange, 200, { 'content-type': 'text/event-stream; charset=utf-8' });
  if (request.method === 'HEAD') return void response.end();
  const stream = new PacedStream(response);
  const signal = new HeartbeatSignal(heartbeatMs, stream.gone);
  const words = new SpeechTeller(speech, () => signal.notify());
  let unfollow = (): void => undefined;
  try {
    unfollow = recording.follow(() => signal.notify());
    const range = recording.range();
    const start = placeOf(lastEventId, recording.header.boot) ?? from ?? range.last + 1;
    await stream.write(`retry: ${RETRY_MS}\n${event('hello', { boot: recording.header.boot, ...range })}`);
    const reason =
      start === 'other_program' ? start : await sendFrom(start, { recording, ahead, stream, signal, words });
    if (reason !== undefined)
      await stream.write(event('reload', { reason, boot: recording.header.boot, ...recording.range() }));
    stream.end();
  } finally {
    unfollow();
    words.close();
    signal.close();
  }
}

interface Live {
  readonly recording: InspectionRecording;
  readonly ahead: DrawnAhead;
  readonly stream: PacedStream;
  readonly signal: HeartbeatSignal;
  readonly words: SpeechTeller;
}

/** @returns why the client has to load anew; undefined when it is gone */
async function sendFrom(start: number, live: Live): Promise<ReloadReason | undefined> {
  const { recording, stream, signal, words } = live;
  if (start > recording.range().last + 1) return 'from_the_future';
  let next = start;
  while (!stream.gone.aborted) {
    const { first, last } = recording.range();
    if (next < first) return 'too_far_behind';
    const reached = next > last ? next : await sendUpTo(last, next, live);
    if (reached === undefined) return 'too_far_behind';
    const said = words.next();
    if (said !== undefined) await stream.write(event('speech', said));
    // A recording that has nothing to give although it says so is asked again when it says so again.
    if (reached === next && (await signal.wait()) === 'quiet') await stream.write(': \n\n');
    next = reached;
  }
  return undefined;
}

/** @returns the number after the last that was sent; undefined when some before it are gone */
async function sendUpTo(last: number, start: number, { recording, ahead, stream }: Live): Promise<number | undefined> {
  let next = start;
  for await (const page of stream.until(recording.records(next))) {
    const first = page.find(({ s }) => s >= next);
    if (first !== undefined && first.s > next) return undefined;
    ahead.see(page);
    for (const portion of portionsOf(page, { from: next, to: last })) {
      await stream.write(
        `id: ${placeIn(recording.header.boot, portion.last)}\nevent: records\ndata: [${portion.texts.join(',')}]\n\n`,
      );
      next = portion.last + 1;
    }
    if (next > last) break;
  }
  return next;
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * An id in one line of plain characters, whatever a log of strangers is called: what it is sent back in is a header.
 */
function placeIn(boot: string, number: number): string {
  return `${encoded(boot)}:${number}`;
}

function encoded(boot: string): string {
  return encodeURIComponent(boot.replace(HALF_CHARACTERS, '\uFFFD'));
}

/** The number after the one that the id names; undefined for none. Numbers of another program say nothing here. */
function placeOf(lastEventId: string | undefined, boot: string): number | 'other_program' | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  const mark = lastEventId.lastIndexOf(':');
  const number = lastEventId.slice(mark + 1);
  return lastEventId.slice(0, mark) === encoded(boot) && /^\d{1,15}$/.test(number)
    ? Number(number) + 1
    : 'other_program';
}
