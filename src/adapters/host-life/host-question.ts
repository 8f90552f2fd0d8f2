/** Asks a process that lives under a token one question. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { AskOptions } from '../../actors/host/host-exchange.ts';
import { SOCKET_ENDING } from './life-socket.ts';
import { withShortWay } from './short-way.ts';

/** More is no answer of ours. */
const MAX_ANSWER_CHARACTERS = 67_108_864;

/**
 * Undefined when none came: it died, does not answer in time, or knows no questions.
 * @throws the system's error when it cannot be connected to
 */
export async function askHost(
  { folder, token }: { readonly folder: string; readonly token: string },
  question: string,
  { timeoutMs, signal }: AskOptions = {},
): Promise<string | undefined> {
  signal?.throwIfAborted();
  const connection = await withShortWay(folder, `${token}${SOCKET_ENDING}`, connected);
  const stop = (): void => void connection.destroy();
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    return await answerOf(connection, question);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    connection.destroy();
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const connection = connect(path);
    connection.once('error', reject);
    connection.once('connect', () => {
      connection.off('error', reject);
      connection.on('error', () => undefined);
      resolve(connection);
    });
  });
}

function answerOf(connection: Socket, question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const pieces: string[] = [];
    let length = 0;
    connection.setEncoding('utf8');
    connection.on('data', (piece: string) => {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_ANSWER_CHARACTERS) connection.destroy();
    });
    connection.on('close', () => {
      const text = pieces.join('');
      resolve(text.endsWith('\n') && length <= MAX_ANSWER_CHARACTERS ? text.slice(0, -1) : undefined);
    });
    if (connection.destroyed) resolve(undefined);
    else connection.write(`${question}\n`);
  });
}
