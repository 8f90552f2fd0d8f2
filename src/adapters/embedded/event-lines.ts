/**
 * Reads a stream of server-sent events as bytes, line by line, only so far as to tell whether the server says
 * something, and whether an event ends.
 */

/** Bytes of one event: a model's whole answer is shorter. */
export const MAX_EVENT_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const COLON = 58;

/** Bytes of a line that are checked. */
const MAX_HEAD_BYTES = 32;

const PING = /^event: ?ping$/;

/**
 * `said`: a piece of an event. `ping`: an event that only says that the connection lives. `nothing`: comments and empty
 * lines, which tell no more than that.
 */
export type Heard = 'said' | 'ping' | 'nothing';

export class EventLines {
  #head = '';
  #lineBytes = 0;
  #eventBytes = 0;
  #isPing = false;

  /** True once an event is longer than events are. */
  get isEndless(): boolean {
    return this.#eventBytes + this.#lineBytes > MAX_EVENT_BYTES;
  }

  /** What the next bytes tell, whichever way they are cut. */
  add(bytes: Uint8Array): Heard {
    let heard: Heard = 'nothing';
    for (let start = 0; start < bytes.length && !this.isEndless;) {
      const found = bytes.indexOf(LINE_FEED, start);
      const end = found === -1 ? bytes.length : found;
      heard = louder(heard, this.#part(bytes.subarray(start, end)));
      if (found !== -1) heard = louder(heard, this.#endLine());
      start = end + 1;
    }
    return heard;
  }

  #part(bytes: Uint8Array): Heard {
    const room = MAX_HEAD_BYTES - this.#head.length;
    if (room > 0)
      for (const byte of bytes.subarray(0, room)) if (byte !== CARRIAGE_RETURN) this.#head += String.fromCharCode(byte);
    this.#lineBytes += bytes.length;
    // What is shorter may still become the name of a ping.
    return this.#lineBytes > MAX_HEAD_BYTES ? this.#told() : 'nothing';
  }

  #endLine(): Heard {
    const isEmpty = this.#head === '';
    if (PING.test(this.#head)) this.#isPing = true;
    const told = isEmpty ? 'nothing' : this.#told();
    this.#eventBytes = isEmpty ? 0 : this.#eventBytes + this.#lineBytes;
    if (isEmpty) this.#isPing = false;
    this.#head = '';
    this.#lineBytes = 0;
    return told;
  }

  #told(): Heard {
    if (this.#head.charCodeAt(0) === COLON) return 'nothing';
    return this.#isPing ? 'ping' : 'said';
  }
}

const LOUDNESS = { nothing: 0, ping: 1, said: 2 } as const satisfies Record<Heard, number>;

function louder(one: Heard, other: Heard): Heard {
  return LOUDNESS[one] >= LOUDNESS[other] ? one : other;
}
