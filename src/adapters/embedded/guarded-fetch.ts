/** How the SDK reaches a provider: one request, no detours, and somebody who hears each byte. */
import { StepFailure } from './step-failure.ts';

/** Bytes of an answer that is no stream: an error, or a page of somebody in between. */
const MAX_OTHER_BYTES = 1024 * 1024;

const SHOWN_CHARACTERS = 500;

export interface GuardedFetchOptions {
  /** Names of headers that are not sent, whatever the SDK says: what would carry a key that is not there. */
  readonly leftOut: readonly string[];
  /** Called when an answer begins, and with each of its pieces. */
  readonly onHeard: () => void;
  readonly fetch: typeof globalThis.fetch;
}

export function guardedFetch({ leftOut, onHeard, fetch }: GuardedFetchOptions): typeof globalThis.fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    for (const name of leftOut) headers.delete(name);
    // Followed, a redirection would take the key and the conversation to whom it names.
    const response = await fetch(input, { ...init, headers, redirect: 'manual' });
    onHeard();
    if (response.status >= 300 && response.status < 400) throw await redirected(response);
    if (!response.ok) return response.body === null ? response : withBody(response, limited(response.body, onHeard));
    if (response.body === null) return response;
    await expectStream(response, onHeard);
    return withBody(response, heard(response.body, onHeard));
  };
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, statusText, headers });
}

function heard(body: ReadableStream<Uint8Array>, onHeard: () => void): ReadableStream<Uint8Array> {
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onHeard();
        controller.enqueue(chunk);
      },
    }),
  );
}

/** The beginning of a body: what comes after it is not waited for. */
function limited(body: ReadableStream<Uint8Array>, onHeard: () => void): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onHeard();
        const room = MAX_OTHER_BYTES - bytes;
        bytes += chunk.length;
        controller.enqueue(chunk.subarray(0, room));
        if (bytes >= MAX_OTHER_BYTES) controller.terminate();
      },
    }),
  );
}

async function redirected(response: Response): Promise<StepFailure> {
  await response.body?.cancel();
  const { status, headers } = response;
  const target = headers.get('location');
  return new StepFailure({ kind: 'format', message: `the provider answered with a redirection (HTTP ${status}${target === null ? '' : ` to ${target}`}), which is not followed; correct its base address` });
}

/** Some answer 200 and then say in JSON or in HTML what is wrong. Servers that name no type, or an odd one, are believed. */
async function expectStream(response: Response, onHeard: () => void): Promise<void> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (response.body === null || (type !== 'application/json' && type !== 'text/html')) return;
  const text = await new Response(limited(response.body, onHeard)).text();
  const body = parsed(text);
  const isError = typeof body === 'object' && body !== null && 'error' in body;
  const what = `expected a stream of events from the provider, received ${type} with HTTP ${response.status}: ${text.slice(0, SHOWN_CHARACTERS)}`;
  if (type === 'text/html') throw new StepFailure({ kind: 'server_error', message: `${what} (is its base address right?)` });
  if (!isError) throw new StepFailure({ kind: 'format', message: what });
  // An error that is sent as a success: what its body says counts, and failing that, that it is the server's.
  throw Object.assign(new Error(what), { status: 500, headers: Object.fromEntries(response.headers), body });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
