/** How the SDK reaches a provider: one request, no detours, and a listener for each byte. */
import { beginningOf } from '../../machines/cut-text.ts';
import { EventLines, MAX_EVENT_BYTES } from './event-lines.ts';
import type { Heard } from './event-lines.ts';
import { StepFailure, brokenAnswer } from './step-failure.ts';

/** Bytes of an answer that is no stream: an error, or a page of a proxy in between. */
const MAX_OTHER_BYTES = 1024 * 1024;

const SHOWN_CHARACTERS = 500;

export interface GuardedFetchOptions {
  /** Names of headers that are not sent, whatever the SDK says: what would carry a key that is not there. */
  readonly leftOut: readonly string[];
  /** Called when an answer begins, and with each of its pieces: what that tells. */
  readonly onHeard: (heard: Heard) => void;
  readonly fetch: typeof globalThis.fetch;
}

export function guardedFetch({ leftOut, onHeard, fetch }: GuardedFetchOptions): typeof globalThis.fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    for (const name of leftOut) headers.delete(name);
    // Followed, a redirection would take the key and the conversation to whom it names.
    const response = await fetch(input, { ...init, headers, redirect: 'manual' });
    onHeard('said');
    if (response.status >= 300 && response.status < 400) throw await redirected(response);
    if (!response.ok)
      return response.body === null ? response : withBody(response, firstBytesOf(response.body, onHeard));
    if (response.body === null) return response;
    await expectStream(response, onHeard);
    return withBody(response, eventsOf(response.body, onHeard));
  };
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, statusText, headers });
}

/** The body as it comes. One stream more, where a transformation would be two. */
function eventsOf(body: ReadableStream<Uint8Array>, onHeard: (heard: Heard) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const lines = new EventLines();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onHeard(lines.add(value));
        if (!lines.isEndless) return controller.enqueue(value);
        // Its reader keeps all of an event until it ends.
        controller.error(brokenAnswer(`one event of it has more than ${MAX_EVENT_BYTES} bytes`));
        await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** As much of a body as is checked: what comes after it is not waited for. */
function firstBytesOf(body: ReadableStream<Uint8Array>, onHeard: (heard: Heard) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let room = MAX_OTHER_BYTES;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onHeard('said');
        controller.enqueue(value.length <= room ? value : value.subarray(0, room));
        room -= value.length;
        if (room > 0) return;
        controller.close();
        await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

async function redirected(response: Response): Promise<StepFailure> {
  await response.body?.cancel();
  const { status, headers } = response;
  const target = withoutSecrets(headers.get('location'));
  return new StepFailure({
    kind: 'format',
    message: `the provider answered with a redirection (HTTP ${status}${target === null ? '' : ` to ${target}`}), which is not followed; correct its base address`,
  });
}

/** Where it leads: what such an address carries besides is for whom it was made. */
function withoutSecrets(location: string | null): string | null {
  return location?.replace(/[?#].*$/s, '').replace(/^([^/]*\/\/)[^/]*@/, '$1') ?? null;
}

/**
 * Some answer 200 and then say in JSON or in HTML what is wrong. Servers that name no type, or an odd one, are
 * believed.
 */
async function expectStream(response: Response, onHeard: (heard: Heard) => void): Promise<void> {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (response.body === null || (type !== 'application/json' && type !== 'text/html')) return;
  const text = await new Response(firstBytesOf(response.body, onHeard)).text();
  const body = parsed(text);
  const isError = typeof body === 'object' && body !== null && 'error' in body;
  const what = `expected a stream of events from the provider, received ${type} with HTTP ${response.status}: ${beginningOf(text, SHOWN_CHARACTERS)}`;
  if (type === 'text/html')
    throw new StepFailure({ kind: 'server_error', message: `${what} (is its base address right?)` });
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
