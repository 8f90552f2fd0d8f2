/** What clients of others send to a port, byte by byte over real sockets. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { webListener } from '../../../src/adapters/system/web-listener.ts';
import type { WebHandler } from '../../../src/adapters/system/web-listener.ts';
import { serveWeb } from '../../../src/adapters/system/web-server.ts';
import type { WebServer, WebServerOptions } from '../../../src/adapters/system/web-server.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function serverOf(handler: WebHandler, options: Partial<WebServerOptions> = {}): Promise<WebServer> {
  const server = await serveWeb({
    ...{ host: '127.0.0.1', port: 0, requestMs: 60_000, maxConnections: 16, hosts: 'own' },
    handler: () => handler,
    cannotListen: (cause) => cause as never,
    ...options,
  });
  cleanUps.push(() => server.close());
  return server;
}

async function portOf(handler: WebHandler, options: Partial<WebServerOptions> = {}): Promise<number> {
  return Number(new URL((await serverOf(handler, options)).origin).port);
}

interface Client {
  readonly socket: Socket;
  /** All that has come so far. */
  text(): string;
}

async function clientOf(port: number, ...lines: readonly string[]): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  const chunks: string[] = [];
  socket.setEncoding('utf8').on('data', (chunk: string) => void chunks.push(chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  cleanUps.push(async () => void socket.destroy());
  socket.write([...lines, '', ''].join('\r\n'));
  return { socket, text: () => chunks.join('') };
}

const POST = ['POST /x HTTP/1.1', 'Host: 127.0.0.1'];
const echo: WebHandler = async (request) => new Response(await request.text());

describe('a client that waits before it sends its body', () => {
  const WAITS = [...POST, 'Expect: 100-continue', 'Content-Length: 2'];

  it('is told to go on where the body is read', async () => {
    const { socket, text } = await clientOf(await portOf(echo), ...WAITS);
    await expect.poll(text).toContain('HTTP/1.1 100 Continue');
    socket.write('hi');
    await expect.poll(text).toMatch(/HTTP\/1.1 200 OK[^]*hi/);
  });

  it('is refused without it, and its connection is not used again', async () => {
    const refuse: WebHandler = async () => new Response('no', { status: 401 });
    const { socket, text } = await clientOf(await portOf(refuse), ...WAITS);
    await once(socket, 'close');
    expect(text()).toMatch(/^HTTP\/1.1 401 [^]*connection: close/i);
    expect(text()).not.toContain('100 Continue');
  });
});

describe('a server that closes', () => {
  it('answers what is under way, ends streams of events and idle connections, and takes no more', async () => {
    let answer = (_: Response): void => undefined;
    const held = new Promise<Response>((resolve) => (answer = resolve));
    const events = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('data: 1\n\n')) });
    const stream = new Response(events, { headers: { 'content-type': 'text/event-stream' } });
    const server = await serverOf(async ({ url }) =>
      url.endsWith('/health') ? new Response('well') : url.endsWith('/events') ? stream : held,
    );
    const port = Number(new URL(server.origin).port);
    const follower = await clientOf(port, 'GET /events HTTP/1.1', 'Host: 127.0.0.1');
    await expect.poll(follower.text).toContain('data: 1');
    const caller = await clientOf(port, ...POST, 'Content-Length: 0');
    await expect.poll(() => caller.socket.bytesWritten).toBeGreaterThan(0);
    const idle = await clientOf(port, 'GET /health HTTP/1.1', 'Host: 127.0.0.1');
    await expect.poll(idle.text).toContain('well');
    // Longer than proxies hold one that is idle: else they would send the next request into its end.
    expect(idle.text()).toMatch(/^keep-alive: timeout=65\r$/im);
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const ends = [follower, caller, idle, { socket: silent }].map(({ socket }) => once(socket, 'close'));
    const closed = server.close();
    await ends[0];
    answer(new Response('answered'));
    await Promise.all([closed, ...ends]);
    expect(caller.text()).toMatch(/^HTTP\/1\.1 200 OK[^]*answered/);
    await expect(clientOf(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

it('answers a request that names two hosts as malformed', async () => {
  const { text } = await clientOf(await portOf(echo), 'GET / HTTP/1.1', 'Host: 127.0.0.1', 'Host: evil.example');
  await expect.poll(text).toMatch(/^HTTP\/1.1 400 /);
});

it('takes what follows a body in pieces for no header', async () => {
  const seen: (string | null)[] = [];
  const handler: WebHandler = async (request) => {
    const body = await request.text();
    seen.push(request.headers.get('authorization'));
    return new Response(body);
  };
  const { text } = await clientOf(
    await portOf(handler),
    ...[...POST, 'Transfer-Encoding: chunked', 'Trailer: Authorization', '', '2', 'hi', '0', 'Authorization: mine'],
  );
  await expect.poll(text).toContain('hi');
  expect(seen).toEqual([null]);
});

it('answers HEAD without a body, whatever the handler gives, and goes on with the connection', async () => {
  let cancelled = false;
  const endless: WebHandler = async ({ method }) =>
    new Response(
      method === 'HEAD'
        ? new ReadableStream({
            pull: (stream) => stream.enqueue(new Uint8Array(9)),
            cancel: () => void (cancelled = true),
          })
        : 'next',
    );
  const head = ['HEAD / HTTP/1.1', 'Host: 127.0.0.1', '', 'GET / HTTP/1.1', 'Host: 127.0.0.1'];
  const { text } = await clientOf(await portOf(endless), ...head);
  await expect.poll(text).toContain('next');
  expect(text().match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
  expect(cancelled).toBe(true);
});

describe('a handler that fails', () => {
  it('is told to the operator, and to the client as 500', async () => {
    const trouble: unknown[] = [];
    const failure = new Error('secret');
    const port = await portOf(async () => Promise.reject(failure), { onTrouble: (error) => void trouble.push(error) });
    const { text } = await clientOf(port, 'GET / HTTP/1.1', 'Host: 127.0.0.1');
    await expect.poll(text).toMatch(/^HTTP\/1.1 500 /);
    expect([text().includes('secret'), trouble]).toEqual([false, [failure]]);
  });

  it('while it answers cuts the answer off, so that it does not pass for a whole one', async () => {
    const trouble: unknown[] = [];
    let pulled = 0;
    const handler: WebHandler = async () =>
      new Response(
        new ReadableStream({
          pull: (stream) =>
            (pulled += 1) === 1 ? stream.enqueue(Buffer.from('begun')) : stream.error(new Error('gone')),
        }),
      );
    const port = await portOf(handler, { onTrouble: (error) => void trouble.push(error) });
    const { socket, text } = await clientOf(port, 'GET / HTTP/1.1', 'Host: 127.0.0.1');
    await once(socket, 'close');
    expect(text()).toContain('200 OK');
    expect(text()).not.toMatch(/\r\n0\r\n/);
    expect(trouble).toEqual([expect.objectContaining({ message: 'gone' })]);
  });
});

describe('a client that stays', () => {
  it('and reads nothing makes the handler wait, and is cut off after a while; one that has left is no trouble', async () => {
    let chunks = 0;
    let cancelled = 0;
    const trouble: unknown[] = [];
    const handler: WebHandler = async () =>
      new Response(
        new ReadableStream(
          {
            pull(stream) {
              chunks += 1;
              stream.enqueue(new Uint8Array(65_536));
            },
            cancel: () => void (cancelled += 1),
          },
          { highWaterMark: 0 },
        ),
      );
    const listener = webListener(handler, { stallMs: 300, onTrouble: (error) => void trouble.push(error) });
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(async () => void server.close());
    const { port } = server.address() as AddressInfo;
    const stalled = await clientOf(port, 'GET / HTTP/1.1', 'Host: x');
    stalled.socket.pause();
    const left = await clientOf(port, 'GET / HTTP/1.1', 'Host: x');
    await expect.poll(() => left.text()).toContain('200 OK');
    left.socket.destroy();
    await expect.poll(() => cancelled, { timeout: 10_000 }).toBe(2);
    expect(trouble).toEqual([]);
    // What fits into the buffers of both ends, and no more.
    expect(chunks).toBeLessThan(2_000);
  });

  it('and says nothing makes room for the next one', async () => {
    const port = await portOf(async () => new Response('here'), { maxConnections: 2 });
    const silent = await Promise.all([clientOf(port, 'GET / HTTP/1.1\r\nX: '.trimEnd()), clientOf(port, 'GET /')]);
    const closed = once(silent[0].socket, 'close');
    const { text } = await clientOf(port, 'GET / HTTP/1.1', 'Host: 127.0.0.1');
    await expect.poll(text).toContain('here');
    await closed;
  });
});
