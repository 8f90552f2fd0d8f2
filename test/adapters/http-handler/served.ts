/** A handler over a runtime whose agent plays a script, for tests without a server. */
import type { HttpCaller, HttpHandlerOptions } from '../../../src/adapters/http-handler/handler-options.ts';
import { createHttpHandler } from '../../../src/adapters/http-handler/handler.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../../support/session-setup.ts';

export interface Served extends AsyncDisposable {
  readonly setup: SessionSetup;
  /** What `onError` heard. */
  readonly errors: unknown[];
  handler(request: Request): Promise<Response>;
  get(path: string, init?: Asked): Promise<Response>;
  post(path: string, body?: unknown, init?: Asked): Promise<Response>;
}

interface Asked {
  /** Default `ada`. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const AT = 'http://agents.example';

/** Who sends is told by a header: that is good enough for a test. */
export function callerOf(request: Request): HttpCaller | undefined {
  const subject = request.headers.get('x-subject');
  return subject === null ? undefined : { subject };
}

export async function serve(
  options: Partial<HttpHandlerOptions> = {},
  setupOptions: SessionSetupOptions = {},
): Promise<Served> {
  const setup = await openSetup(setupOptions);
  const errors: unknown[] = [];
  const handler = createHttpHandler(setup.runtime, {
    authorize: callerOf,
    clock: setup.clock,
    onError: (error) => void errors.push(error),
    ...options,
  });
  const headersOf = ({ as = 'ada', headers = {} }: Asked): Record<string, string> => ({ 'x-subject': as, ...headers });
  return {
    setup,
    errors,
    handler,
    get: (path, init = {}) =>
      handler(new Request(AT + path, { headers: headersOf(init), ...(init.signal && { signal: init.signal }) })),
    post: (path, body, init = {}) =>
      handler(
        new Request(AT + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headersOf(init) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          ...(init.signal && { signal: init.signal }),
        }),
      ),
    [Symbol.asyncDispose]: () => setup.close(),
  };
}

/** A session of ada's whose agent plays these steps. */
export async function sessionOf(
  served: Served,
  steps: readonly object[],
  options: Parameters<SessionSetup['session']>[1] = {},
): Promise<string> {
  await served.setup.session(steps, options);
  const response = await served.post('/sessions', { agentId: 'player' });
  return ((await response.json()) as { readonly sessionId: string }).sessionId;
}

/** The code of an error as JSON. */
export async function codeIn(response: Response): Promise<string> {
  return ((await response.json()) as { readonly error: { readonly code: string } }).error.code;
}
