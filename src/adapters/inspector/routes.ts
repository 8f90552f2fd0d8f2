/**
 * Which address gives what, to a browser that has signed in: the API, and under every other address the files of the
 * page.
 */
import { shownFleet } from '../../actors/inspection/fleet-words.ts';
import { DrawnAhead } from './drawn-ahead.ts';
import type { CheckedInspectorOptions } from './inspector-options.ts';
import { PageFiles } from './page-files.ts';
import { RecordingRoutes } from './recording-routes.ts';
import { Refusal } from './refusal.ts';
import type { Target } from './request-gate.ts';
import { decoded, methodRefused, parametersOf } from './request-gate.ts';
import type { Exchange } from './respond.ts';
import { sendJson, sendTagged, takesGzip } from './respond.ts';
import type { Route, Visit } from './route.ts';
import { READING, soon } from './route.ts';
import { SessionRoutes } from './session-routes.ts';

export class Routes {
  readonly ahead: DrawnAhead;
  readonly #page: PageFiles | undefined;
  readonly #routes: readonly Route[];

  constructor(options: CheckedInspectorOptions) {
    this.#page = options.pageDirectory === undefined ? undefined : new PageFiles(options.pageDirectory);
    this.ahead = new DrawnAhead(options.pictures);
    this.ahead.follow(options.source);
    this.#routes = [
      ...new RecordingRoutes(options, this.ahead).all,
      ...new SessionRoutes(options).all,
      fleetRoute(options),
      schedulesRoute(options),
    ];
  }

  /** Answers, or rejects with what is to be told. */
  async answer(exchange: Exchange, { path, query }: Target): Promise<void> {
    this.ahead.hurry();
    const route = this.#routes.find(({ pattern }) => pattern.test(path));
    const methods = route?.methods ?? READING;
    const { method = '' } = exchange.request;
    if (route === undefined && (path === '/api' || path.startsWith('/api/'))) throw notFound();
    if (!methods.includes(method)) throw methodRefused(method, methods);
    if (route === undefined) return this.#file(exchange, decoded(path));
    return route.answer({ ...exchange, query, name: decoded(route.pattern.exec(path)?.[1] ?? '') });
  }

  async #file(exchange: Exchange, path: string): Promise<void> {
    const file = await this.#page?.find(path);
    if (file === undefined) throw notFound();
    const { type, tag, content, compressed } = file;
    const isCompressed = compressed !== undefined && takesGzip(exchange.request.headers['accept-encoding']);
    // What differs has a tag of its own.
    if (isCompressed)
      return sendTagged(exchange, `${tag}-gzip`, async () => compressed, {
        'content-type': type,
        'content-encoding': 'gzip',
        vary: 'accept-encoding',
      });
    return sendTagged(exchange, tag, async () => content, {
      'content-type': type,
      ...(compressed === undefined ? {} : { vary: 'accept-encoding' }),
    });
  }
}

function notFound(): Refusal {
  return new Refusal(404, 'INSPECTOR_NOT_FOUND', 'there is nothing at this address', {
    hint: 'Go back to the start of the page.',
  });
}

// What many workers do between them, where what is checked knows of it.

function fleetRoute({ source, limits }: CheckedInspectorOptions): Route {
  const answer = async ({ query, ...exchange }: Visit): Promise<void> => {
    parametersOf(query, []);
    if (source.fleet === undefined)
      throw new Refusal(404, 'INSPECTOR_NO_FLEET', 'other workers are unknown here', {
        hint: 'A database that many share does: wakechart inspect --store URL',
      });
    sendJson(exchange, 200, shownFleet(await soon(source.fleet(), limits.requestMs)));
  };
  return { pattern: /^\/api\/fleet$/, methods: READING, answer };
}

function schedulesRoute({ source, limits }: CheckedInspectorOptions): Route {
  const answer = async ({ query, ...exchange }: Visit): Promise<void> => {
    parametersOf(query, []);
    if (source.schedules === undefined)
      throw new Refusal(404, 'INSPECTOR_NO_SCHEDULES', 'schedules are unknown here', {
        hint: 'A home has them: wakechart inspect --home PATH',
      });
    sendJson(exchange, 200, await soon(source.schedules(), limits.requestMs));
  };
  return { pattern: /^\/api\/schedules$/, methods: READING, answer };
}
