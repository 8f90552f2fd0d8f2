/** Finds the mark of a command's end in the output of a shell, however the output is cut into chunks. */
import { MARK_BYTE } from './shell-script.ts';

/** What a shell says at the end of a command. */
export interface CommandEnd {
  /** 128 and more: usually a signal's number plus 128. */
  readonly exitCode: number;
  /** Absolute, without symbolic links; undefined when the folder the shell is in is not there any more. */
  readonly cwd: string | undefined;
}

export interface MarkedChunk {
  /** What the command put out. May share memory with the chunk. */
  readonly before: readonly Uint8Array[];
  readonly end?: CommandEnd | undefined;
  /** What came after the end, from whatever the command left running. */
  readonly after?: Uint8Array | undefined;
}

/** The end of a mark. No folder has it in its name. */
const MARK_END = 0;

/** Longer than any path a system takes: what goes on without an end is no mark. */
const MAX_MARK_BYTES = 16_384;

const END = /^(?<exitCode>\d{1,3}) (?<cwd>[\s\S]*)$/;

export class EndMarkReader {
  #mark: Uint8Array | undefined;
  /** What may be the beginning of a mark. */
  #held: Uint8Array = NOTHING;

  /** The mark to look for next. */
  expect(nonce: string): void {
    this.#mark = new TextEncoder().encode(`${String.fromCharCode(MARK_BYTE)}${nonce} `);
  }

  push(chunk: Uint8Array): MarkedChunk {
    const mark = this.#mark;
    if (mark === undefined) return { before: [this.takeHeld(), chunk] };
    const bytes = joined(this.#held, chunk);
    this.#held = NOTHING;
    for (let at = bytes.indexOf(MARK_BYTE); at !== -1; at = bytes.indexOf(MARK_BYTE, at + 1)) {
      if (!agrees(bytes, at, mark)) continue;
      const stop = bytes.indexOf(MARK_END, at);
      if (stop === -1) {
        if (bytes.length - at > MAX_MARK_BYTES) continue;
        // A copy: the chunk's memory is used again.
        this.#held = bytes.slice(at);
        return { before: [bytes.subarray(0, at)] };
      }
      const end = readEnd(bytes.subarray(at + mark.length, stop));
      if (end === undefined) continue;
      this.#mark = undefined;
      return { before: [bytes.subarray(0, at)], end, after: bytes.subarray(stop + 1) };
    }
    return { before: [bytes] };
  }

  /** What was held back, when nothing more comes. */
  takeHeld(): Uint8Array {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }
}

const NOTHING = new Uint8Array(0);

/** Whether `mark` stands at `at`, or as much of it as there are bytes. */
function agrees(bytes: Uint8Array, at: number, mark: Uint8Array): boolean {
  const length = Math.min(mark.length, bytes.length - at);
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== mark[index]) return false;
  return true;
}

function readEnd(bytes: Uint8Array): CommandEnd | undefined {
  const { exitCode, cwd } = END.exec(new TextDecoder().decode(bytes))?.groups ?? {};
  if (exitCode === undefined || cwd === undefined) return undefined;
  return { exitCode: Number(exitCode), cwd: cwd === '' ? undefined : cwd };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
