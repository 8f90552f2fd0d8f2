/** Finds the mark of a command's end in the output of a shell, however the output is cut into chunks. */
import { MARK_BYTE } from './shell-script.ts';

/** What a shell says at the end of a command. */
export interface CommandEnd {
  /** 128 and more: usually a signal's number plus 128. */
  readonly exitCode: number;
  /** Absolute, without symbolic links; undefined when the folder the shell is in is not there any more. */
  readonly cwd: string | undefined;
  /** The nonce of its report of what is exported, where it has made one. */
  readonly report?: string | undefined;
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

const END = /^(?<exitCode>\d{1,3})(?<reported>r?) (?<cwd>[\s\S]*)$/;

interface Mark {
  readonly nonce: string;
  readonly bytes: Uint8Array;
}

type Finding =
  | { readonly kind: 'none' }
  /** What begins at `at` may become a mark. */
  | { readonly kind: 'begun'; readonly at: number }
  | {
      readonly kind: 'mark';
      readonly at: number;
      readonly stop: number;
      readonly index: number;
      readonly end: CommandEnd;
    };

export class EndMarkReader {
  /** In the order in which they come, unless the shell was kept from giving one. */
  #marks: readonly Mark[] = [];
  /** What the first of the marks said. */
  #first: CommandEnd | undefined;
  /** What may be the beginning of a mark. */
  #held: Uint8Array = NOTHING;

  /** A command begins: its mark is the only one to search for. */
  expect(nonce: string): void {
    this.#marks = [markOf(nonce)];
    this.#first = undefined;
  }

  /** A second mark was asked for, because the first may never come: the end is where the second one is. */
  expectAlso(nonce: string): void {
    this.#marks = [...this.#marks, markOf(nonce)];
  }

  push(chunk: Uint8Array): MarkedChunk {
    const before: Uint8Array[] = [];
    let bytes = joined(this.takeHeld(), chunk);
    while (this.#marks.length > 0) {
      const found = find(bytes, this.#marks);
      if (found.kind === 'none') return { before: [...before, bytes] };
      before.push(bytes.subarray(0, found.at));
      if (found.kind === 'begun') {
        // A copy: the chunk's memory is used again.
        this.#held = bytes.slice(found.at);
        return { before };
      }
      bytes = bytes.subarray(found.stop + 1);
      this.#marks = this.#marks.slice(found.index + 1);
      // The first knows how the command ended, the last where the shell is.
      this.#first = { ...found.end, exitCode: (this.#first ?? found.end).exitCode };
    }
    const end = this.#first;
    this.#first = undefined;
    return end === undefined ? { before: [bytes] } : { before, end, after: bytes };
  }

  /** What was held back, when nothing more comes. */
  takeHeld(): Uint8Array {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }
}

function markOf(nonce: string): Mark {
  return { nonce, bytes: new TextEncoder().encode(`${String.fromCharCode(MARK_BYTE)}${nonce} `) };
}

function find(bytes: Uint8Array, marks: readonly Mark[]): Finding {
  for (let at = bytes.indexOf(MARK_BYTE); at !== -1; at = bytes.indexOf(MARK_BYTE, at + 1)) {
    const index = marks.findIndex((each) => agrees(bytes, at, each.bytes));
    const mark = marks[index];
    if (mark === undefined) continue;
    const stop = bytes.indexOf(MARK_END, at);
    if (stop === -1) {
      if (bytes.length - at > MAX_MARK_BYTES) continue;
      return { kind: 'begun', at };
    }
    const end = readEnd(bytes.subarray(at + mark.bytes.length, stop), mark.nonce);
    if (end !== undefined) return { kind: 'mark', at, stop, index, end };
  }
  return { kind: 'none' };
}

const NOTHING = new Uint8Array(0);

/** Whether `mark` stands at `at`, or as much of it as there are bytes. */
function agrees(bytes: Uint8Array, at: number, mark: Uint8Array): boolean {
  const length = Math.min(mark.length, bytes.length - at);
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== mark[index]) return false;
  return true;
}

function readEnd(bytes: Uint8Array, nonce: string): CommandEnd | undefined {
  const { exitCode, reported, cwd } = END.exec(new TextDecoder().decode(bytes))?.groups ?? {};
  if (exitCode === undefined || cwd === undefined) return undefined;
  return {
    exitCode: Number(exitCode),
    cwd: cwd === '' ? undefined : cwd,
    ...(reported === '' ? {} : { report: nonce }),
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
