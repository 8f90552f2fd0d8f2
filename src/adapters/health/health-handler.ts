/** `/healthz`, `/readyz` and `/metrics` of one runtime, for whatever serves requests of the web. */
import type { RuntimeOperations } from '../../actors/telemetry/runtime-operations.ts';
import { PROMETHEUS_CONTENT_TYPE, prometheusText } from '../../machines/telemetry/prometheus-text.ts';

/**
 * Answers `GET /healthz` (the process lives and takes its events), `GET /readyz` (its store answers, and its worker
 * takes work; 503 with the reasons as JSON) and `GET /metrics` (the text format of Prometheus); 404 for all else.
 * No client has to say who it is: what is told are counts, and names of agents, models and tools. Counting begins with
 * the call.
 */
export function createHealthHandler({
  operations,
}: {
  readonly operations: RuntimeOperations;
}): (request: Request) => Promise<Response> {
  operations.startCounting();
  const answers: Readonly<Record<string, () => Promise<Response>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () => {
      const { isReady, reasons } = await operations.readiness();
      return json(isReady ? 200 : 503, { status: isReady ? 'ok' : 'unavailable', reasons });
    },
    '/metrics': async () =>
      new Response(prometheusText(await operations.metrics()), {
        headers: { 'content-type': PROMETHEUS_CONTENT_TYPE, 'cache-control': 'no-store' },
      }),
  };
  return async ({ url, method }) => {
    const answer = answers[new URL(url).pathname];
    if (answer === undefined) return json(404, { error: 'expected /healthz, /readyz or /metrics' });
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'expected GET' }, { allow: 'GET, HEAD' });
    return answer();
  };
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  });
}
