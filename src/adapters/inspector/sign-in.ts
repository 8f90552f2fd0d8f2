/**
 * Who may check: a random token in an address is exchanged, once, for a cookie that scripts cannot read.
 *
 * An address ends up in histories and lists of processes, so what it holds is worthless after its first use, and some
 * minutes later. Only digests are kept, and each comparison takes the same time whatever was given.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { digestOf } from './place.ts';
import type { Place } from './place.ts';

const SECRET_BYTES = 32;
const MAX_TOKENS = 16;
/** Browsers that are signed in at once. */
const MAX_BROWSERS = 16;
export const TOKEN_MINUTES = 10;
const MINUTE_MS = 60_000;

export class SignIn {
  readonly #cookieName: string;
  readonly #place: Place;
  readonly #tokens = new Digests(MAX_TOKENS, TOKEN_MINUTES * MINUTE_MS);
  readonly #browsers = new Digests(MAX_BROWSERS, Infinity);

  /**
   * Cookies go to all ports of a host, so the path of the place keeps this one to itself; the name says for people
   * which port it is for.
   */
  constructor(port: number, place: Place) {
    this.#place = place;
    this.#cookieName = `wakechart_inspector_${port}`;
  }

  newToken(): string {
    return this.#tokens.issue();
  }

  /** The Set-Cookie header for the holder of the token, which is used up by it; undefined for one that is not good. */
  exchange(token: string): string | undefined {
    if (!this.#tokens.take(token)) return undefined;
    return `${this.#cookieName}=${this.#browsers.issue()}; Path=${this.#place.path}; HttpOnly; SameSite=Strict`;
  }

  /**
   * Whether a Cookie header is that of a browser that has signed in. A page on another port of the same host can set
   * one of the same name, so that one of several may fit.
   */
  knows(header: string | undefined): boolean {
    const prefix = `${this.#cookieName}=`;
    const values = (header ?? '')
      .split(';')
      .map((each) => each.trim())
      .filter((each) => each.startsWith(prefix));
    return values.some((each) => this.#browsers.has(each.slice(prefix.length)));
  }
}

interface Issued {
  readonly digest: Buffer;
  /** On the clock that only goes forward. */
  readonly at: number;
}

/** Secrets that were given out. At the limit, the oldest is forgotten; each after its time. */
class Digests {
  readonly #limit: number;
  readonly #lifeMs: number;
  #issued: readonly Issued[] = [];

  constructor(limit: number, lifeMs: number) {
    this.#limit = limit;
    this.#lifeMs = lifeMs;
  }

  issue(): string {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    this.#issued = [...this.#issued, { digest: digestOf(secret), at: performance.now() }].slice(-this.#limit);
    return secret;
  }

  has(secret: string): boolean {
    return this.#find(secret) !== undefined;
  }

  take(secret: string): boolean {
    const found = this.#find(secret);
    this.#issued = this.#issued.filter((each) => each !== found);
    return found !== undefined;
  }

  /** Checks all of them, wherever the right one stands. */
  #find(secret: string): Issued | undefined {
    const given = digestOf(secret);
    const now = performance.now();
    return this.#issued
      .filter(({ digest }) => timingSafeEqual(digest, given))
      .find(({ at }) => now - at < this.#lifeMs);
  }
}
