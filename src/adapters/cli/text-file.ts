/** Reads a text file that a user names: whatever it is, with a bound, and with an error that says what it was instead. */
import { createReadStream } from 'node:fs';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

export interface TextFile {
  readonly path: string;
  /** What it is to the user: "agent file". */
  readonly what: string;
  readonly maxBytes: number;
}

/** @throws RuntimeError FILE_UNREADABLE */
export async function readTextFile({ path, what, maxBytes }: TextFile): Promise<string> {
  const bytes = await readUpTo(path, maxBytes + 1).catch((cause: unknown) => {
    throw unreadable(`could not read the ${what} ${path}: ${messageOf(cause)}`, 'Check the path; it is taken from the folder you are in.', cause);
  });
  if (bytes.length > maxBytes) throw unreadable(`expected the ${what} ${path} to hold at most ${maxBytes} bytes; it holds more`, 'Name the right file, or shorten it.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(`expected the ${what} ${path} to be UTF-8 text`, 'Save it as UTF-8.', cause);
  }
}

/** Works on pipes and endless devices too: it never reads more than it was told. */
async function readUpTo(path: string, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function unreadable(message: string, hint: string, cause?: unknown): RuntimeError {
  return new RuntimeError('FILE_UNREADABLE', message, { category: 'storage', hint, cause });
}
