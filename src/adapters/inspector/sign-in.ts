/**
 * Who may look: a random token in an address is exchanged, once, for a cookie that scripts cannot read.
 *
 * An address ends up in histories and lists of processes, so what it holds is worthless after its first use. Only digests are kept, and each
 * comparison takes the same time whatever was given.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
const MAX_TOKENS = 16;
/** Browsers that are signed in at once. */
const MAX_BROWSERS = 16;

export class SignIn {
  readonly #cookieName: string;
  readonly #tokens = new Digests(MAX_TOKENS);
  readonly #browsers = new Digests(MAX_BROWSERS);

  /** Cookies are shared by all ports of a host, so the name says which one it is for. */
  constructor(port: number) {
    this.#cookieName = `wakechart_inspector_${port}`;
  }

  newToken(): string {
    return this.#tokens.issue();
  }

  /** The Set-Cookie header for whoever has the token, which is used up by it; undefined for one that is not good. */
  exchange(token: string): string | undefined {
    if (!this.#tokens.take(token)) return undefined;
    return `${this.#cookieName}=${this.#browsers.issue()}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Whether a Cookie header is that of a browser that has signed in. A page on another port can set a cookie of the same name, so that one of several may fit. */
  knows(header: string | undefined): boolean {
    const prefix = `${this.#cookieName}=`;
    const values = (header ?? '').split(';').map((each) => each.trim()).filter((each) => each.startsWith(prefix));
    return values.some((each) => this.#browsers.has(each.slice(prefix.length)));
  }
}

/** Secrets that were given out. At the limit, the oldest is forgotten. */
class Digests {
  readonly #limit: number;
  #digests: readonly Buffer[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  issue(): string {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    this.#digests = [...this.#digests, digestOf(secret)].slice(-this.#limit);
    return secret;
  }

  has(secret: string): boolean {
    return this.#find(secret) !== undefined;
  }

  take(secret: string): boolean {
    const found = this.#find(secret);
    this.#digests = this.#digests.filter((each) => each !== found);
    return found !== undefined;
  }

  /** Looks at all of them, wherever the right one stands. */
  #find(secret: string): Buffer | undefined {
    const digest = digestOf(secret);
    return this.#digests.filter((each) => timingSafeEqual(each, digest))[0];
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
