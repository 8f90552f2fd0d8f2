/**
 * `http_request`. Secrets are put in here and nowhere before: over https only, and to no host that they are not for. A
 * redirect to another place is not followed: whether the agent may go there is for the rules about its calls to say.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../actors/clock/clock.ts';
import type { SessionEnvironment } from '../../actors/environment/session-environment.ts';
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';
import { NO_SECRETS } from '../../actors/environment/session-secrets.ts';
import type { Tool, ToolContext } from '../../actors/turn/tool.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { HttpRequestInput, HttpRequestOutput } from '../../machines/turn/http-request.ts';
import { httpRequestDefinition, MAX_REDIRECTS } from '../../machines/turn/http-request.ts';
import { plainAddress } from '../../machines/turn/http-request-address.ts';
import { isLoopbackName } from '../system/loopback.ts';
import { untilAborted } from '../system/waiting.ts';
import type { FindAddresses } from './checked-address.ts';
import { checkedAddress } from './checked-address.ts';
import type { HttpAnswer } from './http-exchange.ts';
import { exchange } from './http-exchange.ts';

export interface HttpRequestToolOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** What names of hosts mean. Default: what the system says. */
  readonly find?: FindAddresses | undefined;
  /** How servers see us. */
  readonly userAgent: string;
}

export function createHttpRequestTool(options: HttpRequestToolOptions): Tool<HttpRequestInput> {
  return {
    definition: httpRequestDefinition,
    subject: ({ url }) => ({ kind: 'path', path: ruledPath(plainAddress(new URL(url))), access: 'write' }),
    async run(input, context) {
      const { definition } = context.environment ?? {};
      if (definition?.network === 'disabled') throw networkDisabled(definition.environmentId);
      const stop = deadline(options.clock, input.timeoutSeconds, context.signal);
      try {
        return await new Request(options, input, { ...context, signal: stop.signal }).run();
      } finally {
        stop.end();
      }
    },
  };
}

/** As rules name it: `api.github.com/repos/**`. */
function ruledPath({ host, pathname }: URL): string {
  return `${host}${pathname}`;
}

type RequestContext = Pick<ToolContext, 'environment' | 'signal'>;

class Request {
  readonly #options: HttpRequestToolOptions;
  readonly #input: HttpRequestInput;
  readonly #environment: SessionEnvironment | undefined;
  readonly #signal: AbortSignal;

  constructor(options: HttpRequestToolOptions, input: HttpRequestInput, { environment, signal }: RequestContext) {
    this.#options = options;
    this.#input = input;
    this.#environment = environment;
    this.#signal = signal;
  }

  async run(): Promise<HttpRequestOutput> {
    let url = plainAddress(new URL(this.#input.url));
    const { method } = this.#input;
    const body = this.#input.json === undefined ? this.#input.body : JSON.stringify(this.#input.json);
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.#send(url, method, body);
      const next = redirectOf(answer, url);
      if (next === undefined) return await this.#output(url, answer);
      const refused =
        redirects === MAX_REDIRECTS
          ? `This was redirect number ${MAX_REDIRECTS + 1}, to ${next.href}; no more are followed.`
          : whyNotThere(method, url, next);
      if (refused !== undefined) return await this.#output(url, answer, refused);
      url = next;
    }
  }

  async #send(url: URL, method: string, body: string | undefined): Promise<HttpAnswer> {
    // Before anything of the host is looked up: what is refused is told to no server.
    const headers = this.#headersFor(url, body);
    const mayReachHome = this.#environment?.definition.sandbox !== 'required';
    const address = await untilAborted(checkedAddress(url, { mayReachHome, find: this.#options.find }), this.#signal);
    return exchange({ method, url, headers, body, address, maxBytes: this.#input.maxBytes, signal: this.#signal });
  }

  #headersFor(url: URL, body: string | undefined): Record<string, string> {
    const given = Object.entries(this.#input.headers ?? {}).map(
      ([name, value]) =>
        [
          name.toLowerCase(),
          typeof value === 'string' ? value : `${value.prefix ?? ''}${this.#secretFor(url, value.vault)}`,
        ] as const,
    );
    const headers: Record<string, string> = {
      'user-agent': this.#options.userAgent,
      accept: '*/*',
      ...Object.fromEntries(given),
      'accept-encoding': 'identity',
    };
    if (body === undefined) {
      delete headers['content-type'];
      return headers;
    }
    const type =
      headers['content-type'] ?? (this.#input.json === undefined ? 'text/plain; charset=utf-8' : 'application/json');
    return { ...headers, 'content-type': type, 'content-length': String(Buffer.byteLength(body)) };
  }

  #secretFor({ protocol, host, hostname }: URL, reference: string): string {
    const value = (this.#environment?.secrets ?? NO_SECRETS).forHost(reference, host);
    if (protocol !== 'https:' && !isLoopbackName(hostname)) throw needsHttps(reference, host);
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) throw notForHeaders(reference);
    return value;
  }

  async #output(
    url: URL,
    { status, headers, body, isTruncated }: HttpAnswer,
    remark?: string,
  ): Promise<HttpRequestOutput> {
    const secrets = this.#environment?.secrets;
    const contentType = headers['content-type'];
    const text = body.length === 0 ? undefined : await bodyText({ bytes: body, isTruncated, contentType }, secrets);
    const noText =
      text === undefined && body.length > 0
        ? `The body is no text (${contentType?.slice(0, 100) ?? 'of no type'}) and is not shown.`
        : undefined;
    const notes = [remark, noText].filter((note) => note !== undefined);
    return {
      status,
      url: url.href,
      headers: headerTexts(headers, secrets),
      ...(text === undefined ? {} : { body: text }),
      bytes: body.length,
      ...(isTruncated ? { truncated: true as const } : {}),
      ...(notes.length === 0 ? {} : { note: notes.join(' ') }),
    };
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectOf({ status, headers: { location } }: HttpAnswer, url: URL): URL | undefined {
  return REDIRECTS.has(status) && location !== undefined && URL.canParse(location, url.href)
    ? plainAddress(new URL(location, url))
    : undefined;
}

/**
 * Undefined when it is followed: to read, at the same place of the same host, and nothing less safe. Rules name a place
 * by host and path.
 */
function whyNotThere(method: string, from: URL, to: URL): string | undefined {
  const isReading = method === 'GET' || method === 'HEAD';
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:';
  const isSafe = (from.protocol === to.protocol || isUpgrade) && to.username === '' && to.password === '';
  if (isReading && isSafe && ruledPath(from) === ruledPath(to)) return undefined;
  return `This is a redirect to ${to.href}, which was not followed: ${isReading ? 'it leads elsewhere' : 'only GET and HEAD are sent again'}. Request that itself if it is wanted.`;
}

function deadline(
  clock: HttpRequestToolOptions['clock'],
  seconds: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; end(): void } {
  const late = new AbortController();
  const timer = clock.setTimeout(
    () =>
      late.abort(
        new RuntimeError('HTTP_TIMEOUT', `there was no whole answer within ${seconds} seconds`, {
          category: 'timeout',
          hint: 'Raise timeoutSeconds. Whether the server has acted on the request is not known.',
        }),
      ),
    seconds * 1_000,
  );
  return { signal: AbortSignal.any([signal, late.signal]), end: () => clock.clearTimeout(timer) };
}

function networkDisabled(environmentId: string): RuntimeError {
  return new RuntimeError('NETWORK_DISABLED', `the environment "${environmentId}" has no network`, {
    category: 'permission',
    hint: 'Say so in your answer; only people can change the environment.',
  });
}

function needsHttps(reference: string, host: string): RuntimeError {
  return new RuntimeError(
    'SECRET_NEEDS_HTTPS',
    `the secret "${reference}" is sent over https only, and to this machine itself; this would be http to ${host}`,
    { category: 'permission', hint: 'Use an https URL.' },
  );
}

function notForHeaders(reference: string): RuntimeError {
  return new RuntimeError(
    'SECRET_UNAVAILABLE',
    `the secret "${reference}" holds characters that no header can, such as line ends`,
    { category: 'validation', hint: 'Only its owner can put that right.', details: { reference } },
  );
}

// What a server answered, as text without secrets.

const TEXT =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded|x-ndjson|toml|sql)|image\/svg\+xml|message\/|multipart\/)/i;

/** Bytes that are scanned at a stretch: whatever else runs in this process has its turn in between. */
const PIECE_BYTES = 65_536;

/** Characters of all values of one header. */
const MAX_HEADER_CHARACTERS = 8_000;

interface Body {
  readonly bytes: Uint8Array;
  readonly isTruncated: boolean;
  readonly contentType: string | undefined;
}

/** Undefined for what is no text. */
export async function bodyText(
  { bytes, isTruncated, contentType }: Body,
  secrets: SessionSecrets | undefined,
): Promise<string | undefined> {
  const text = decoded(bytes, contentType, isTruncated);
  if (text === undefined) return undefined;
  const redaction = secrets?.bytes();
  if (redaction === undefined) return text;
  const all = new TextEncoder().encode(text);
  const told: Uint8Array[] = [];
  for (let from = 0; from < all.length; from += PIECE_BYTES) {
    told.push(redaction.add(all.subarray(from, from + PIECE_BYTES)));
    await setImmediate();
  }
  // What is kept back at a cut is the beginning of a secret whose rest was cut off.
  if (!isTruncated) told.push(redaction.end());
  return new TextDecoder().decode(Buffer.concat(told));
}

/** By their names; what came more than once stands in one line. */
export function headerTexts(headers: IncomingHttpHeaders, secrets: SessionSecrets | undefined): Record<string, string> {
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  const redacted = texts.map(
    ([name, value]) =>
      [secrets?.text(name) ?? name, beginningOf(secrets?.text(value) ?? value, MAX_HEADER_CHARACTERS)] as const,
  );
  return Object.fromEntries(redacted);
}

function decoded(bytes: Uint8Array, contentType: string | undefined, isTruncated: boolean): string | undefined {
  const charset = /;\s*charset\s*=\s*"?(?<name>[\w.:-]{1,40})/i.exec(contentType ?? '')?.groups?.['name'];
  const isSaidToBeText = contentType !== undefined && TEXT.test(contentType.trim());
  try {
    // A cut may go through a character.
    return new TextDecoder(charset ?? 'utf-8', { fatal: !isSaidToBeText }).decode(bytes, { stream: isTruncated });
  } catch {
    return isSaidToBeText ? new TextDecoder().decode(bytes) : undefined;
  }
}
