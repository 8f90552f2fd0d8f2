/** Health beside the sessions that are served: probes bear no token, and are told no more than they need. */
import { isLoopbackAddress, isLoopbackHost, isLoopbackName } from '../../adapters/system/loopback.ts';
import { bears } from './bearer-token.ts';

type Handler = (request: Request) => Promise<Response>;

export interface HealthBeside {
  readonly sessions: Handler;
  readonly health: Handler;
  readonly token: string;
  /** Where it listens. */
  readonly host: string;
}

/**
 * Why it is not ready, and what scrapers read, such as what was spent, is for those who have the token. On loopback a
 * probe names this machine as its host.
 */
export function withHealth({ sessions, health, token, host }: HealthBeside): Handler {
  const isLocal = isLoopbackAddress(host) || isLoopbackName(host);
  return async (request) => {
    const { pathname } = new URL(request.url);
    const isProbe = pathname === '/healthz' || pathname === '/readyz';
    if (!isProbe && pathname !== '/metrics') return sessions(request);
    if (bears(request, token)) return health(request);
    if (!isProbe) return sessions(request);
    if (isLocal && !isLoopbackHost(request.headers.get('host')))
      return new Response('expected the name of this machine as host\n', { status: 421 });
    return withoutReasons(await health(request));
  };
}

async function withoutReasons(answered: Response): Promise<Response> {
  const { reasons: _reasons, ...rest } = (await answered.json()) as Readonly<Record<string, unknown>>;
  return new Response(`${JSON.stringify(rest)}\n`, { status: answered.status, headers: answered.headers });
}
