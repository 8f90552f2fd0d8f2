/** Which address gives what, to a browser that has signed in. */
import type { InspectionSource } from '../../actors/inspection/inspection-source.ts';
import { sessionId as sessionIdSchema } from '../../machines/ids.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { AnswerDesk } from './answer-desk.ts';
import type { CheckedInspectorOptions } from './inspector-options.ts';
import { sendLive } from './live-route.ts';
import { PageFiles } from './page-files.ts';
import { readJson } from './read-json.ts';
import { sendRecords } from './records-route.ts';
import { Refusal } from './refusal.ts';
import { decoded, methodRefused, numberOf, parametersOf } from './request-gate.ts';
import type { Target } from './request-gate.ts';
import { sendJson, sendTagged } from './respond.ts';
import type { Exchange } from './respond.ts';

/** What may be asked for at once; more is said as a number. */
const MAX_SESSIONS = 1_000;
const SESSIONS = 200;
const MAX_CHART_ID_CHARACTERS = 500;

interface Visit extends Exchange {
  readonly query: URLSearchParams;
  /** What the address names, decoded; empty where it names nothing. */
  readonly name: string;
}

interface Route {
  readonly pattern: RegExp;
  readonly methods: readonly string[];
  readonly answer: (visit: Visit) => Promise<void>;
}

const READING = ['GET', 'HEAD'];

export class Routes {
  readonly #options: CheckedInspectorOptions;
  readonly #source: InspectionSource;
  readonly #desk: AnswerDesk;
  readonly #page: PageFiles | undefined;
  readonly #routes: readonly Route[];
  #liveStreams = 0;

  constructor(options: CheckedInspectorOptions) {
    this.#options = options;
    this.#source = options.source;
    this.#desk = new AnswerDesk(options.source);
    this.#page = options.pageDirectory === undefined ? undefined : new PageFiles(options.pageDirectory);
    this.#routes = [
      { pattern: /^\/api\/records$/, methods: READING, answer: (visit) => this.#records(visit) },
      { pattern: /^\/api\/live$/, methods: READING, answer: (visit) => this.#live(visit) },
      { pattern: /^\/api\/charts\/([^/]+)\.svg$/, methods: READING, answer: (visit) => this.#picture(visit) },
      { pattern: /^\/api\/charts\/([^/]+)$/, methods: READING, answer: (visit) => this.#chart(visit) },
      { pattern: /^\/api\/sessions$/, methods: READING, answer: (visit) => this.#sessions(visit) },
      { pattern: /^\/api\/sessions\/([^/]+)$/, methods: READING, answer: (visit) => this.#session(visit) },
      { pattern: /^\/api\/sessions\/([^/]+)\/answers$/, methods: ['POST'], answer: (visit) => this.#answer(visit) },
    ];
  }

  /** Answers, or rejects with what is to be told. */
  async answer(exchange: Exchange, { path, query }: Target): Promise<void> {
    const route = this.#routes.find(({ pattern }) => pattern.test(path));
    const methods = route?.methods ?? READING;
    const { method = '' } = exchange.request;
    if (route === undefined && (path === '/api' || path.startsWith('/api/'))) throw notFound();
    if (!methods.includes(method)) throw methodRefused(method, methods);
    if (route === undefined) return this.#file(exchange, decoded(path));
    return route.answer({ ...exchange, query, name: decoded(route.pattern.exec(path)?.[1] ?? '') });
  }

  async #records({ query, ...exchange }: Visit): Promise<void> {
    const { from = '1' } = parametersOf(query, ['from']);
    return sendRecords(exchange, { source: this.#source, from: sequenceNumber(from) });
  }

  async #live({ query, ...exchange }: Visit): Promise<void> {
    const { from } = parametersOf(query, ['from']);
    const { maxLiveStreams, heartbeatMs } = this.#options.limits;
    const lastEventId = exchange.request.headers['last-event-id'];
    const start = from === undefined ? undefined : sequenceNumber(from);
    if (this.#liveStreams >= maxLiveStreams) {
      throw new Refusal(503, 'INSPECTOR_TOO_MANY_FOLLOWERS', `at most ${maxLiveStreams} may follow at once`, { hint: 'Close another tab.', headers: { 'retry-after': '5' } });
    }
    this.#liveStreams += 1;
    try {
      await sendLive(exchange, { source: this.#source, from: start, lastEventId: lastEventId === undefined ? undefined : String(lastEventId), heartbeatMs });
    } finally {
      this.#liveStreams -= 1;
    }
  }

  async #chart({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const chart = this.#chartOf(name);
    return sendTagged(exchange, this.#options.pictures.hash(chart), async () => JSON.stringify(chart), { 'content-type': 'application/json; charset=utf-8' });
  }

  async #picture({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const chart = this.#chartOf(name);
    const { pictures } = this.#options;
    return sendTagged(exchange, pictures.hash(chart), () => this.#soon(pictures.draw(chart)), { 'content-type': 'image/svg+xml; charset=utf-8' });
  }

  #chartOf(id: string): ChartDescription {
    const chart = id.length > MAX_CHART_ID_CHARACTERS ? undefined : this.#source.chart(id);
    if (chart === undefined) throw new Refusal(404, 'INSPECTOR_CHART_UNKNOWN', 'no chart of this id was recorded', { hint: 'The records of kind "machine" name those that were.' });
    return chart;
  }

  async #sessions({ query, ...exchange }: Visit): Promise<void> {
    const { limit } = parametersOf(query, ['limit']);
    const most = limit === undefined ? SESSIONS : numberOf('limit', limit, { min: 1, max: MAX_SESSIONS });
    sendJson(exchange, 200, await this.#soon(this.#source.sessions({ limit: most })));
  }

  async #session({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const session = sessionIdSchema.safeParse(name).success ? await this.#soon(this.#source.session(name)) : undefined;
    if (session === undefined) throw sessionUnknown();
    sendJson(exchange, 200, session);
  }

  async #answer({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    if (!sessionIdSchema.safeParse(name).success) throw sessionUnknown();
    const body = await readJson(exchange.request, this.#options.limits.maxBodyBytes);
    sendJson(exchange, 200, { receipt: await this.#soon(this.#desk.take(name, body)) });
  }

  async #file(exchange: Exchange, path: string): Promise<void> {
    const file = await this.#page?.find(path);
    if (file === undefined) throw notFound();
    const { type, tag, content } = file;
    return sendTagged(exchange, tag, async () => content, { 'content-type': type });
  }

  /** What the source says, unless it takes so long that the client is told rather than left waiting. */
  async #soon<Value>(value: Promise<Value>): Promise<Value> {
    const { requestMs } = this.#options.limits;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Refusal(504, 'INSPECTOR_SOURCE_SLOW', `there was no answer within ${requestMs} ms`, { hint: 'Try again: an answer to a request counts once, however often it is sent.' })), requestMs);
    });
    return Promise.race([value, late]).finally(() => clearTimeout(timer));
  }
}

function sequenceNumber(text: string): number {
  return numberOf('from', text, { min: 1, max: Number.MAX_SAFE_INTEGER });
}

function notFound(): Refusal {
  return new Refusal(404, 'INSPECTOR_NOT_FOUND', 'there is nothing at this address', { hint: 'Go back to the start of the page.' });
}

function sessionUnknown(): Refusal {
  return new Refusal(404, 'INSPECTOR_SESSION_UNKNOWN', 'there is no session of this id', { hint: '/api/sessions lists them.' });
}
