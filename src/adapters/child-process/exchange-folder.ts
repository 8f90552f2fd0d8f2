/**
 * Messages that are too long for the channel: each is a file in a private folder that one worker and its parent share.
 * The reader of one checks that it is what was announced, and removes it. Reads and writes are synchronous, so that
 * messages keep their order; they take less time than reading the JSON in them.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { WORKER_DEPTH, WORKER_VALUES } from '../../machines/subagent/worker-bounds.ts';
import type { WorkerFileReference } from '../../machines/subagent/worker-protocol.ts';
import { WORKER_FILE_BYTES, WORKER_PROTOCOL_VERSION } from '../../machines/subagent/worker-protocol.ts';
import { READING_NO_LINK } from '../system/own-files.ts';

// Counts what is in JSON text before it is parsed: parsing many small values takes longer than reading one long text.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/** @throws Error saying what there is too much of. What is no JSON is for the parser to say. */
export function checkShape(text: Uint8Array): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfText(text, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA || byte === COLON) values += 1;
    if (values > WORKER_VALUES) throw new Error(`expected a message of at most ${WORKER_VALUES} values, it has more`);
    if (depth > WORKER_DEPTH)
      throw new Error(`expected a message with at most ${WORKER_DEPTH} lists and objects in each other, it has more`);
  }
}

/** Where the text that begins at `start` ends. */
function endOfText(text: Uint8Array, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

const PRIVATE_FILE = 0o600;

export class ExchangeFolder {
  readonly path: string;
  readonly #prefix: 'parent' | 'child';
  #written = 0;

  /** @param prefix who writes through this object: their files must not meet */
  constructor(path: string, prefix: 'parent' | 'child') {
    this.path = path;
    this.#prefix = prefix;
  }

  /** @throws RuntimeError WORKER_MESSAGE_TOO_LONG; what the file system says when it cannot be written */
  write(bytes: Buffer): WorkerFileReference {
    if (bytes.length > WORKER_FILE_BYTES) throw tooLong(bytes.length);
    this.#written += 1;
    const byFile = `${this.#prefix}-${this.#written}.json`;
    writeFileSync(join(this.path, byFile), bytes, { mode: PRIVATE_FILE, flag: 'wx' });
    return { v: WORKER_PROTOCOL_VERSION, byFile, bytes: bytes.length, sha256: hashOf(bytes) };
  }

  /**
   * The value in the file, which is gone afterwards whatever it was. @throws Error saying how it differs from what was
   * announced
   */
  read({ byFile, bytes, sha256 }: WorkerFileReference): unknown {
    const path = join(this.path, byFile);
    try {
      const content = contentOf(path, bytes);
      if (hashOf(content) !== sha256)
        throw new Error(`the file ${byFile} is not the one that was announced: its SHA-256 differs`);
      // What a worker writes is checked before it is parsed; what a parent writes is what a caller wanted of it.
      if (this.#prefix === 'parent') checkShape(content);
      return JSON.parse(content.toString('utf8')) as unknown;
    } finally {
      rmSync(path, { force: true, recursive: true });
    }
  }
}

function contentOf(path: string, bytes: number): Buffer {
  const file = openSync(path, READING_NO_LINK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error('expected a file of its own, found something else under its name');
    if (stats.size !== bytes) throw new Error(`expected a file of ${bytes} bytes, found ${stats.size}`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function tooLong(bytes: number): RuntimeError {
  return new RuntimeError(
    'WORKER_MESSAGE_TOO_LONG',
    `expected a message of at most ${WORKER_FILE_BYTES} bytes, it has ${bytes}`,
    {
      category: 'capacity',
      hint: 'Let the agent write long outputs into files of its workspace.',
      details: { bytes, maxBytes: WORKER_FILE_BYTES },
    },
  );
}
