/**
 * Reads a text file that a user names, or what they pipe in: whatever it is, with a bound, and with an error that says
 * what it was instead.
 */
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
    throw unreadable(
      `could not read the ${what} ${path}: ${messageOf(cause)}`,
      'Check the path; it is taken from the folder you are in.',
      cause,
    );
  });
  if (bytes.length > maxBytes)
    throw unreadable(
      `expected the ${what} ${path} to hold at most ${maxBytes} bytes; it holds more`,
      'Name the right file, or shorten it.',
    );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(`expected the ${what} ${path} to be UTF-8 text`, 'Save it as UTF-8.', cause);
  }
}

/** Reads what is piped into this program. @throws RuntimeError INPUT_UNREADABLE */
export async function readTextInput({ what, maxBytes }: Omit<TextFile, 'path'>): Promise<string> {
  const refuse = (message: string, hint: string): RuntimeError =>
    new RuntimeError('INPUT_UNREADABLE', message, { category: 'validation', hint });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes)
      throw refuse(
        `expected the ${what} on standard input to hold at most ${maxBytes} bytes; it holds more`,
        'Put it into a file of the workspace and say where it is.',
      );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw refuse(`expected the ${what} on standard input to be UTF-8 text`, 'Encode it first.');
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
