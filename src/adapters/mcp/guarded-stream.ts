/**
 * The body of an HTTP response of an MCP server, as it may be read: bounded, and with an end.
 *
 * A stream of events that answers a request and breaks off would leave the request open for ever. Where the server gave
 * no event id to resume from, an answer is put at the end which says so; the client drops it if the real one came
 * before.
 */

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Enough of a line to see an event id. */
const LINE_HEAD_BYTES = 300;

/** The key in `_meta` of an answer that the server never gave. */
export const BROKEN_OFF = 'wakechart/broken-off';

export interface BrokenOff {
  readonly kind: 'ended' | 'too_large' | 'stopped';
  readonly message: string;
}

export interface EventStreamOptions {
  readonly limitBytes: number;
  /** The request that the stream answers; undefined for a stream of its own. */
  readonly requestId: number | undefined;
  /** The event after which the stream goes on, when it does not begin anew. */
  readonly resumedFrom: string | undefined;
  /** Ends the stream early. */
  readonly stop: AbortSignal | undefined;
  /** Called with each event that is complete and says something, and the last id that the server gave. */
  readonly onEvent: (lastEventId: string | undefined) => void;
}

/** The same events, as long as each of them keeps within `limitBytes`. */
export function guardedEvents(
  body: ReadableStream<Uint8Array>,
  options: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const { limitBytes, requestId, resumedFrom, stop, onEvent } = options;
  const reader = body.getReader();
  const scan = new EventScan(onEvent, resumedFrom);
  const finish = (controller: ReadableStreamDefaultController<Uint8Array>, why: BrokenOff): void => {
    if (requestId !== undefined) controller.enqueue(brokenOffEvent(requestId, why));
    controller.close();
  };
  const isStopped = (): boolean => stop?.aborted === true;
  // Ends a read that waits.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  stop?.addEventListener('abort', cancel, { once: true });
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await reader.read();
    if (isStopped()) return finish(controller, STOPPED);
    if (done) return scan.lastEventId === undefined ? finish(controller, ENDED) : controller.close();
    scan.add(value);
    if (scan.eventBytes <= limitBytes) return controller.enqueue(value);
    cancel();
    return finish(controller, { kind: 'too_large', message: `an event is larger than ${limitBytes} bytes` });
  };
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // The SDK forgets where it resumed from: a stream that breaks off before its first event would begin anew.
      if (resumedFrom !== undefined) controller.enqueue(new TextEncoder().encode(`id: ${resumedFrom}\ndata:\n\n`));
    },
    pull: async (controller) => {
      try {
        await next(controller);
      } catch (error) {
        const canResume = scan.lastEventId !== undefined && !isStopped();
        if (requestId === undefined || canResume) controller.error(error);
        else finish(controller, isStopped() ? STOPPED : ENDED);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const ENDED: BrokenOff = { kind: 'ended', message: 'the stream ended before the answer' };
const STOPPED: BrokenOff = { kind: 'stopped', message: 'the request was given up' };

/** The same bytes up to `limitBytes`; what comes after them fails the stream with `error`, or is left out. */
export function guardedBody(
  body: ReadableStream<Uint8Array>,
  { limitBytes, error }: { readonly limitBytes: number; readonly error: (() => Error) | undefined },
): ReadableStream<Uint8Array> {
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= limitBytes) controller.enqueue(chunk);
      else if (error !== undefined) controller.error(error());
      else {
        controller.enqueue(chunk.subarray(0, chunk.length - (bytes - limitBytes)));
        controller.terminate();
      }
    },
  });
  return body.pipeThrough(limit);
}

/**
 * An answer in place of the server's: a result, since nothing else keeps the SDK from resuming. Completes an event that
 * broke off.
 */
export function brokenOffEvent(requestId: number, why: BrokenOff): Uint8Array {
  const message = {
    jsonrpc: '2.0',
    id: requestId,
    result: { content: [], isError: true, _meta: { [BROKEN_OFF]: why } },
  };
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Where events begin and end in the bytes of a stream, and the ids they carry. */
class EventScan {
  lastEventId: string | undefined;
  /** Of the event that is not complete yet. */
  eventBytes = 0;
  readonly #onEvent: (lastEventId: string | undefined) => void;
  #lineHead = '';
  #lineBytes = 0;
  #hasContent = false;

  constructor(onEvent: (lastEventId: string | undefined) => void, resumedFrom: string | undefined) {
    this.#onEvent = onEvent;
    this.lastEventId = resumedFrom;
  }

  add(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#take(chunk.subarray(start, end));
      this.#endLine(end > start && chunk[end - 1] === CARRIAGE_RETURN);
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
  }

  #take(part: Uint8Array): void {
    this.eventBytes += part.length;
    this.#lineBytes += part.length;
    const room = LINE_HEAD_BYTES - this.#lineHead.length;
    if (room > 0) this.#lineHead += Buffer.from(part.subarray(0, room)).toString('latin1');
  }

  #endLine(endsWithReturn: boolean): void {
    const isEmpty = this.#lineBytes === 0 || (this.#lineBytes === 1 && (endsWithReturn || this.#lineHead === '\r'));
    const id = /^id: ?(?<id>[^\r\0]+)\r?$/.exec(this.#lineHead)?.groups?.['id'];
    if (id !== undefined) this.lastEventId = id;
    if (id !== undefined || /^data: ?[^\r]/.test(this.#lineHead)) this.#hasContent = true;
    this.#lineHead = '';
    this.#lineBytes = 0;
    if (!isEmpty) return;
    if (this.#hasContent) this.#onEvent(this.lastEventId);
    this.#hasContent = false;
    this.eventBytes = 0;
  }
}
