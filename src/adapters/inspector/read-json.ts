/** The body of a request as JSON, no longer than the limit. */
import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** @throws Refusal 400, 413, 415 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  checkKind(request.headers);
  // What was said beforehand spares us to read up to it.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong(maxBytes);
  const text = textOf(await bytesOf(request, maxBytes));
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw notJson();
  }
}

/** A form of another site can send text and forms, and never JSON. */
function checkKind(headers: IncomingMessage['headers']): void {
  const kind = (headers['content-type'] ?? '').toLowerCase();
  if (!/^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/.test(kind))
    throw new Refusal(415, 'INSPECTOR_JSON_EXPECTED', 'expected a body of the type application/json in UTF-8', {
      hint: 'Send Content-Type: application/json.',
    });
  const coding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if (coding !== 'identity')
    throw new Refusal(415, 'INSPECTOR_JSON_EXPECTED', 'expected a body that is not compressed', {
      hint: 'Leave Content-Encoding out.',
    });
}

/**
 * What comes after the limit is read and thrown away by Node, for as long as a request may take: cut off, a client
 * would not hear why.
 */
function bytesOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) return void chunks.push(chunk);
      chunks.length = 0;
      reject(tooLong(maxBytes));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('close', () =>
      reject(
        new Refusal(400, 'INSPECTOR_BODY_INCOMPLETE', 'the request ended before its body did', {
          hint: 'Send it again.',
        }),
      ),
    );
  });
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notJson();
  }
}

function notJson(): Refusal {
  return new Refusal(400, 'INSPECTOR_JSON_INVALID', 'expected one JSON value in UTF-8', { hint: 'Check the body.' });
}

function tooLong(maxBytes: number): Refusal {
  return new Refusal(413, 'INSPECTOR_BODY_TOO_LONG', `expected at most ${maxBytes} bytes`, { hint: 'Shorten it.' });
}
