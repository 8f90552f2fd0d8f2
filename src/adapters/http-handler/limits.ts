/** How often a subject may ask, how many streams it may hold open, and how long a body may be. */
import type { Clock } from '../../actors/clock/clock.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { HandlerSettings } from './handler-options.ts';
import { Refusal } from './refusal.ts';

/** Above it, those who have not asked for as long as a whole burst takes are forgotten. */
const MAX_KEPT_SUBJECTS = 10_000;
const MINUTE_MS = 60_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** A bucket of requests for each subject, which fills as time goes by. */
export class RateLimit {
  readonly #rate: HandlerSettings['rate'];
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor({ rate, clock }: Pick<HandlerSettings, 'rate' | 'clock'>) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** @throws Refusal API_RATE_LIMITED, which says when to ask again */
  take(subject: string): void {
    if (this.#rate === false) return;
    const { perMinute, burst } = this.#rate;
    const nowMs = this.#clock.steadyNow();
    const bucket = this.#buckets.get(subject) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * perMinute) / MINUTE_MS);
    bucket.atMs = nowMs;
    // The one that asked last is the last.
    this.#buckets.delete(subject);
    this.#buckets.set(subject, bucket);
    this.#forget(nowMs - (burst * MINUTE_MS) / perMinute);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return;
    }
    const seconds = Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / perMinute / 1_000);
    throw new Refusal('API_RATE_LIMITED', `expected at most ${perMinute} requests a minute`, {
      category: 'capacity',
      hint: `Try again in ${seconds} s.`,
      headers: { 'retry-after': String(Math.max(1, seconds)) },
    });
  }

  /** A bucket that is full again says nothing. */
  #forget(fullSinceMs: number): void {
    if (this.#buckets.size <= MAX_KEPT_SUBJECTS) return;
    for (const [subject, { atMs }] of this.#buckets) {
      if (atMs > fullSinceMs) return;
      this.#buckets.delete(subject);
    }
  }
}

/** What a subject has at the same time: streams, or reads of logs. */
export class OpenLimit {
  readonly #most: number;
  readonly #what: string;
  readonly #open = new Map<string, number>();

  constructor(most: number, what: 'streams' | 'reads of logs') {
    this.#most = most;
    this.#what = what;
  }

  /** @returns gives it back; idempotent @throws Refusal API_STREAMS_LIMITED */
  take(subject: string): () => void {
    const open = this.#open.get(subject) ?? 0;
    if (open >= this.#most)
      throw new Refusal('API_STREAMS_LIMITED', `expected at most ${this.#most} ${this.#what} at the same time`, {
        category: 'capacity',
        hint: 'End one of them first.',
        headers: { 'retry-after': '5' },
      });
    this.#open.set(subject, open + 1);
    let give = (): void => {
      const left = (this.#open.get(subject) ?? 1) - 1;
      if (left === 0) this.#open.delete(subject);
      else this.#open.set(subject, left);
      give = () => undefined;
    };
    return () => give();
  }
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/**
 * @returns undefined for an empty body @throws Refusal API_BODY_TYPE, API_BODY_TOO_LARGE, API_BODY_INVALID
 * @throws RuntimeError API_BODY_TAKEN
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const bytes = await bytesOf(request, maxBytes);
  if (bytes.length === 0) return undefined;
  // A form of another site can send text and forms, and never JSON.
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? ''))
    throw new Refusal('API_BODY_TYPE', 'expected a body of the type application/json in UTF-8', {
      category: 'validation',
      hint: 'Send Content-Type: application/json.',
    });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new Refusal('API_BODY_INVALID', 'expected one JSON value in UTF-8', {
      category: 'validation',
      hint: 'Check the body.',
    });
  }
}

async function bytesOf(request: Request, maxBytes: number): Promise<Uint8Array> {
  // What was said beforehand spares us to read up to it.
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.bodyUsed || request.body?.locked === true) throw taken();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const parts: AsyncIterable<Uint8Array> | null = request.body;
  try {
    // Leaving the loop cancels the body: what comes after the limit is not read.
    for await (const chunk of parts ?? []) {
      length += chunk.byteLength;
      if (length > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('API_BODY_INVALID', 'the body was cut off before its end', {
      category: 'validation',
      hint: 'Send all of it.',
    });
  }
  return Buffer.concat(chunks);
}

/** No fault of the client's. */
function taken(): RuntimeError {
  return new RuntimeError('API_BODY_TAKEN', 'the body of the request was read before the handler could read it', {
    category: 'crash',
    hint: 'Mount the handler before what parses bodies, and read a clone of the request in authorize().',
  });
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('API_BODY_TOO_LARGE', `expected a body of at most ${maxBytes} bytes`, {
    category: 'validation',
    hint: 'Send less at once.',
  });
}
