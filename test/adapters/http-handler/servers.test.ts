/**
 * One handler under the servers that people have, each over real sockets: Node's own, Express, Fastify and Hono, and
 * what stands before it there. docs/http.md is held by test/docs/http-servers-processes.test.ts.
 */
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import Fastify from 'fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler } from '../../../src/adapters/http-handler/handler.ts';
import { toNodeListener } from '../../../src/adapters/http-handler/node-listener.ts';
import { openSetup } from '../../support/session-setup.ts';
import { callerOf } from './served.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

type Listener = Parameters<typeof createServer>[1];
type Handler = (request: Request) => Promise<Response>;

async function listening(listener: Listener | Promise<Listener>): Promise<string> {
  const server = createServer((await listener) as Exclude<Listener, undefined>);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const servers: readonly (readonly [string, (handler: Handler) => Listener | Promise<Listener>])[] = [
  ['Node', (handler) => toNodeListener(handler)],
  [
    'Express',
    (handler) => {
      const app = express();
      app.use('/agent', toNodeListener(handler));
      return app as Listener;
    },
  ],
  [
    'Fastify',
    async (handler) => {
      const app = Fastify();
      const listener = toNodeListener(handler);
      const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
        reply.hijack();
        listener(request.raw, reply.raw);
      };
      app.all('/agent/*', { onRequest }, () => undefined);
      await app.ready();
      return (request, response) => app.routing(request, response);
    },
  ],
  [
    'Hono',
    (handler) => {
      const app = new Hono();
      app.all('/agent/*', (context) => handler(context.req.raw));
      return toNodeListener(async (request) => app.fetch(request));
    },
  ],
];

const HEADERS = { 'x-subject': 'ada', 'content-type': 'application/json' };

describe.each(servers)('under %s', (_, under) => {
  it('makes sessions, streams their events, and lets go when the client is gone', async () => {
    const setup = await openSetup();
    cleanUps.push(() => setup.close());
    await setup.session([{ text: 'Hello.' }]);
    const handler = createHttpHandler(setup.runtime, { authorize: callerOf, basePath: '/agent', maxStreams: 1 });
    const at = await listening(under(handler));
    const made = await fetch(`${at}/agent/sessions`, {
      ...{ method: 'POST', headers: HEADERS },
      body: JSON.stringify({ agentId: 'player' }),
    });
    expect(made.status).toBe(201);
    const { sessionId } = (await made.json()) as { readonly sessionId: string };
    const gone = new AbortController();
    const events = (): Promise<Response> =>
      fetch(`${at}/agent/sessions/${sessionId}/events`, {
        headers: { 'x-subject': 'ada', accept: 'text/event-stream' },
        signal: gone.signal,
      });
    const response = await events();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    const decoder = new TextDecoder();
    while (!text.includes('id: 1')) text += decoder.decode((await reader.read()).value);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    // What compresses would keep events back until there is enough of them.
    expect(response.headers.get('cache-control')).toContain('no-transform');
    expect((await events()).status).toBe(429);
    gone.abort();
    await expect
      .poll(
        async () =>
          (
            await fetch(`${at}/agent/sessions/${sessionId}/events`, {
              method: 'HEAD',
              headers: { 'x-subject': 'ada', accept: 'text/event-stream' },
            })
          ).status,
      )
      .toBe(200);
  });
});

describe('a listener of Node', () => {
  it.each([
    ['a path that no URL has', { path: '//[' }, 400],
    ['a method that no page may send', { path: '/sessions', method: 'TRACE' }, 400],
    ['a path that begins with a host', { path: '//x/sessions', headers: { 'x-subject': 'ada' } }, 400],
    ['a path that leads up', { path: '/x/../sessions', headers: { 'x-subject': 'ada' } }, 400],
    ['a path that leads up in disguise', { path: '/x/.%2E/sessions', headers: { 'x-subject': 'ada' } }, 400],
    ['another host than it is', { path: 'http://evil.example/sessions', headers: { 'x-subject': 'ada' } }, 200],
  ])('answers %s', async (_, options, status) => {
    const setup = await openSetup();
    cleanUps.push(() => setup.close());
    const at = new URL(await listening(toNodeListener(createHttpHandler(setup.runtime, { authorize: callerOf }))));
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      ask({ host: at.hostname, port: at.port, ...options }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });
    expect(answered).toBe(status);
  });

  it('does not take a body that is cut off for a fault of its own', async () => {
    const setup = await openSetup();
    cleanUps.push(() => setup.close());
    const heard: unknown[] = [];
    const answers: number[] = [];
    const handler = createHttpHandler(setup.runtime, {
      authorize: callerOf,
      onError: (error) => void heard.push(error),
    });
    const listener = toNodeListener(async (request) => {
      const response = await handler(request);
      answers.push(response.status);
      return response;
    });
    const at = new URL(await listening(listener));
    const asking = ask({ host: at.hostname, port: at.port, path: '/sessions', method: 'POST', headers: HEADERS });
    asking.on('error', () => undefined);
    asking.write('{', () => asking.destroy());
    await expect.poll(() => answers).toEqual([400]);
    expect(heard).toEqual([]);
  });

  it('cuts off a body that has no end, and says why', async () => {
    const setup = await openSetup();
    cleanUps.push(() => setup.close());
    const handler = createHttpHandler(setup.runtime, { authorize: callerOf, maxBodyBytes: 10_000 });
    const at = new URL(await listening(toNodeListener(handler)));
    const answered = await new Promise<string>((resolve, reject) => {
      let status: number | undefined;
      const asking = ask(
        { host: at.hostname, port: at.port, path: '/sessions', method: 'POST', headers: HEADERS },
        (response) => {
          status = response.statusCode;
          response.resume();
        },
      );
      asking.on('error', (error) => (status === undefined ? reject(error) : undefined));
      asking.once('close', () => resolve(`${status}, then cut off`));
      const more = (): void => {
        if (!asking.destroyed) asking.write(Buffer.alloc(4_096), () => setImmediate(more));
      };
      more();
    });
    expect(answered).toBe('413, then cut off');
  });
});

describe('what has read a body before the handler', () => {
  const asked = async (before: express.RequestHandler): Promise<{ answer: string; heard: unknown[] }> => {
    const setup = await openSetup();
    cleanUps.push(() => setup.close());
    await setup.session([]);
    const heard: unknown[] = [];
    const handler = createHttpHandler(setup.runtime, {
      ...{ authorize: callerOf, basePath: '/agent', maxBodyBytes: 1_000 },
      onError: (error) => void heard.push(error),
    });
    const app = express();
    app.use(before, toNodeListener(handler));
    const at = await listening(app as Listener);
    const post = (body: object): Promise<Response> =>
      fetch(`${at}/agent/sessions`, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
    const [made, long] = [await post({ agentId: 'player' }), await post({ agentId: 'x'.repeat(2_000) })];
    return { answer: `${made.status} ${long.status}`, heard };
  };

  it.each([
    ['an object', express.json()],
    ['text', express.text({ type: 'application/json' })],
    ['bytes', express.raw({ type: 'application/json' })],
  ])('and made %s of it changes nothing', async (_, parser) => {
    expect(await asked(parser)).toEqual({ answer: '201 413', heard: [] });
  });

  it('and kept nothing of it is told to the operator', async () => {
    const { answer, heard } = await asked(
      (request, _response, next) => void request.resume().once('end', () => next()),
    );
    expect(answer).toBe('500 413');
    expect(heard).toEqual([expect.objectContaining({ code: 'API_BODY_TAKEN' })]);
  });

  it('is told to the operator where that was authorize()', async () => {
    const setup = await openSetup();
    cleanUps.push(() => setup.close());
    const heard: unknown[] = [];
    const handler = createHttpHandler(setup.runtime, {
      onError: (error) => void heard.push(error),
      authorize: async (request) => ({ subject: ((await request.json()) as { readonly by: string }).by }),
    });
    const body = JSON.stringify({ by: 'ada' });
    const response = await handler(new Request('http://x/sessions', { method: 'POST', headers: HEADERS, body }));
    expect(response.status).toBe(500);
    expect(heard).toEqual([expect.objectContaining({ code: 'API_BODY_TAKEN' })]);
  });
});
