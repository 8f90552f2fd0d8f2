/** One request to one address, and as much of the answer as is wanted. */
import { request as requestPlain } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { CheckedAddress } from './checked-address.ts';

export interface HttpExchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly address: CheckedAddress;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Unpacked; `maxBytes` at most. */
  readonly body: Uint8Array;
  readonly isTruncated: boolean;
}

/** Bytes of all headers of an answer. */
const MAX_HEADER_BYTES = 65_536;

/** @throws RuntimeError HTTP_REQUEST_FAILED, or the reason of the signal */
export async function exchange(options: HttpExchange): Promise<HttpAnswer> {
  const { url, signal, maxBytes } = options;
  signal.throwIfAborted();
  try {
    const response = await answerTo(options);
    const { statusCode = 0, headers } = response;
    const { body, isTruncated } = await bodyOf(response, maxBytes, signal);
    return { status: statusCode, headers, body, isTruncated };
  } catch (error) {
    signal.throwIfAborted();
    // The words of the system name addresses and codes, never headers.
    throw new RuntimeError('HTTP_REQUEST_FAILED', `the request to ${url.host} has failed: ${messageOf(error)}`, {
      category: 'provider',
      hint: 'Whether the server has acted on it is not known, unless it could not be reached.',
    });
  }
}

function answerTo({ method, url, headers, body, address, signal }: HttpExchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      method,
      headers: { ...headers },
      lookup: alwaysAt(address),
      agent: false,
      signal,
      maxHeaderSize: MAX_HEADER_BYTES,
    };
    const start = url.protocol === 'https:' ? requestSecure : requestPlain;
    const request = start(url, options, resolve);
    request.on('error', reject);
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      reject(new Error(`the server wants to speak another protocol (HTTP ${response.statusCode})`));
    });
    request.end(body);
  });
}

/**
 * The name stays in the request and in what the certificate is held against; what is connected to is what was checked.
 */
function alwaysAt({ address, family }: CheckedAddress): LookupFunction {
  return (_hostname, { all }, callback) => {
    if (all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

async function bodyOf(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Pick<HttpAnswer, 'body' | 'isTruncated'>> {
  const stream = unpacked(response);
  const stop = (): void => {
    response.destroy();
    stream.destroy(new Error('the request was stopped'));
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) break;
    }
    return { body: Buffer.concat(chunks).subarray(0, maxBytes), isTruncated: bytes > maxBytes };
  } finally {
    signal.removeEventListener('abort', stop);
    response.destroy();
    stream.destroy();
  }
}

/** Some servers pack what we have not asked them to. */
function unpacked(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase();
  const unpack =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (unpack === undefined) return response;
  response.on('error', (error) => unpack.destroy(error));
  response.once('close', () => {
    if (!response.complete) unpack.destroy(new Error('the answer broke off'));
  });
  return response.pipe(unpack);
}
