/** One handler under the servers that people have: Node's own, Express and Hono, each over real sockets. */
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler } from '../../../src/adapters/http-handler/handler.ts';
import { toNodeListener } from '../../../src/adapters/http-handler/node-listener.ts';
import { openHouse } from '../../support/session-house.ts';
import { callerOf } from './served.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

type Listener = Parameters<typeof createServer>[1];

async function listening(listener: Listener): Promise<string> {
  const server = createServer(listener as Exclude<Listener, undefined>);
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

const servers: readonly (readonly [string, (handler: (request: Request) => Promise<Response>) => Listener])[] = [
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
    const house = await openHouse();
    cleanUps.push(() => house.close());
    await house.session([{ text: 'Hello.' }]);
    const handler = createHttpHandler(house.runtime, { authorize: callerOf, basePath: '/agent', maxStreams: 1 });
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
    const house = await openHouse();
    cleanUps.push(() => house.close());
    const at = new URL(await listening(toNodeListener(createHttpHandler(house.runtime, { authorize: callerOf }))));
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
    const house = await openHouse();
    cleanUps.push(() => house.close());
    const heard: unknown[] = [];
    const answers: number[] = [];
    const handler = createHttpHandler(house.runtime, {
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
    const house = await openHouse();
    cleanUps.push(() => house.close());
    const handler = createHttpHandler(house.runtime, { authorize: callerOf, maxBodyBytes: 10_000 });
    const at = new URL(await listening(toNodeListener(handler)));
    const answered = await new Promise<string>((resolve, reject) => {
      const asking = ask(
        { host: at.hostname, port: at.port, path: '/sessions', method: 'POST', headers: HEADERS },
        (response) => resolve(`${response.statusCode} ${response.headers.connection}`),
      );
      asking.on('error', reject);
      const more = (): void => {
        if (asking.writableEnded || asking.destroyed) return;
        asking.write(Buffer.alloc(4_096), () => setImmediate(more));
      };
      more();
      asking.once('response', () => asking.destroy());
    });
    expect(answered).toBe('413 close');
  });
});
