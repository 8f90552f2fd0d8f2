/** What the page waits for: a turn, a while, the next piece, a user who signs in. */
import { server } from './transport.ts';

const ASK_AGAIN_MS = 3_000;
/** A response of which nothing comes for so long is dead. The server says something every ten seconds. */
const PIECE_MS = 30_000;

/** Lets the page paint and answer keys. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener(
      'message',
      () => {
        port1.close();
        resolve();
      },
      { once: true },
    );
    port1.start();
    port2.postMessage(undefined);
  });
}

export function pause(forMs: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      left.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, forMs);
    left.addEventListener('abort', end);
    if (left.aborted) end();
  });
}

/** Aborted with the first of both. */
export function eitherOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const both = new AbortController();
  for (const each of [one, other]) {
    if (each.aborted) both.abort();
    else each.addEventListener('abort', () => both.abort(), { once: true, signal: both.signal });
  }
  return both.signal;
}

/** The next piece of a response. @throws Error where none comes */
export async function readSoon(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      void reader.cancel().catch(() => undefined);
      reject(new Error(`nothing came for ${PIECE_MS} ms`));
    }, PIECE_MS);
  });
  return Promise.race([reader.read(), late]).finally(() => clearTimeout(timer));
}

/** Resolves when the server takes this browser for one that has signed in. */
export async function signedIn(left: AbortSignal): Promise<void> {
  for (;;) {
    await pause(ASK_AGAIN_MS, left);
    if (left.aborted) return;
    if (document.visibilityState === 'visible' && (await server.about().catch(() => undefined)) !== undefined) return;
  }
}
