/** Where the inspector listens, how many it listens to, and how it ends. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { InspectorOptions } from '../../../src/adapters/inspector/inspector-options.ts';
import { messageOf } from '../../../src/machines/errors.ts';
import { startInspector } from '../../../src/adapters/inspector/inspector.ts';
import { inspected } from './inspector-client.ts';
import { RecordedSource } from './recorded-source.ts';

const PICTURES = { hash: () => 'aa11', draw: async () => '<svg/>' };
const NEEDED = {
  source: new RecordedSource(),
  pictures: PICTURES,
  onProblem: () => undefined,
} satisfies InspectorOptions;

describe('the inspector', () => {
  it('is on a free port of this machine alone', async () => {
    const one = await inspected();
    const other = await inspected();
    expect(one.server.origin).toBe(`http://127.0.0.1:${one.port}`);
    expect(one.port).not.toBe(other.port);
  });

  it.each([
    '0.0.0.0',
    '::',
    '192.0.2.1',
    '10.0.0.1',
    '::ffff:127.0.0.1',
    'localhost',
    '127.0.0.1.evil.example',
    '',
    '127.1',
  ])('does not listen where others could reach it: "%s"', async (host) => {
    await expect(startInspector({ ...NEEDED, host })).rejects.toMatchObject({
      code: 'INSPECTOR_OPTIONS_INVALID',
      category: 'validation',
    });
  });

  it('listens there when it is told so loudly, and answers for the names it was given', async () => {
    const { ask, port, server } = await inspected({
      host: '0.0.0.0',
      exposeBeyondThisMachine: { hostNames: ['box.example'] },
    });
    expect((await ask('/api/sessions', { headers: { host: `box.example:${port}` } })).status).toBe(200);
    expect(server.signInAddress()).toMatch(new RegExp(`^http://box\\.example:${port}/[0-9a-f]{32}/\\?token=`));
    expect(server.origin).toBe(`http://box.example:${port}`);
    for (const host of ['evil.example', '0.0.0.0'])
      expect((await ask('/api/sessions', { headers: { host: `${host}:${port}` } })).status).toBe(421);
  });

  it.each<Record<string, unknown>>([
    { port: -1 },
    { port: 65_536 },
    { port: 1.5 },
    { port: '80' },
    { pageDirectory: 'relative' },
    { pageDirectory: '/a\0b' },
    { limits: { stallMs: 10, heartbeatMs: 10 } },
    { limits: { stallMs: 5 } },
    { limits: { maxConnections: 0 } },
    { limits: { maxBodyBytes: Infinity } },
    { limits: { other: 1 } },
    { other: 1 },
    { source: {} },
    { pictures: undefined },
    { onProblem: undefined },
    { exposeBeyondThisMachine: true },
    { exposeBeyondThisMachine: { hostNames: [] } },
    { exposeBeyondThisMachine: { hostNames: ['*'] } },
    { exposeBeyondThisMachine: { hostNames: ['box:80'] } },
  ])('refuses options that mean nothing: %j', async (wrong) => {
    await expect(startInspector({ ...NEEDED, ...wrong })).rejects.toMatchObject({ code: 'INSPECTOR_OPTIONS_INVALID' });
  });

  it('says so when its port is taken', async () => {
    const { port } = await inspected();
    await expect(startInspector({ ...NEEDED, port })).rejects.toMatchObject({
      code: 'INSPECTOR_PORT_TAKEN',
      category: 'conflict',
      message: `port ${port} of 127.0.0.1 is taken by another program`,
    });
  });

  it('loads nothing before it is asked to start', () => {
    const face = readFileSync(new URL('../../../src/adapters/inspector/inspector.ts', import.meta.url), 'utf8');
    expect(face.match(/^import (?!type )/gm)).toBeNull();
  });
});

describe('connections', () => {
  it('that are silent make way for others, so that a stranger with many locks no other out', async () => {
    const { socket, ask } = await inspected({ limits: { maxConnections: 4 } });
    const silent = await Promise.all(Array.from({ length: 12 }, () => socket()));
    const ends = silent.map(
      (each) =>
        new Promise(
          (resolve) =>
            void each
              .on('error', () => undefined)
              .resume()
              .once('close', resolve),
        ),
    );
    expect((await ask('/api/sessions')).status).toBe(200);
    await Promise.race(ends);
  });

  it('with nothing under way make way too, and those that are answered do not', async () => {
    const { socket, open, source } = await inspected({ limits: { maxConnections: 2 } });
    const live = await open('/api/live');
    await vi.waitFor(() => expect(source.followers).toBe(1));
    const idle = await socket();
    idle.on('error', () => undefined).resume();
    idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    await socket();
    await once(idle, 'close');
    expect(source.followers).toBe(1);
    live.destroy();
  });

  it('beyond the limit are closed while all others are answered, and others are taken again once one has ended', async () => {
    const { socket, open, ask, source } = await inspected({ limits: { maxConnections: 2 } });
    const [one] = [await open('/api/live'), await open('/api/live')];
    await vi.waitFor(() => expect(source.followers).toBe(2));
    const third = await socket();
    third.on('error', () => undefined);
    third.resume();
    await once(third, 'close');
    one.destroy();
    await vi.waitFor(async () => expect((await ask('/api/sessions')).status).toBe(200));
  });

  it('that say nothing, or only half of something, end by themselves', async () => {
    const { socket } = await inspected({ limits: { requestMs: 40, stallMs: 60, heartbeatMs: 20 } });
    for (const words of ['', 'GET / HTTP/1.1\r\nHost: ']) {
      const connection = await socket();
      connection.on('error', () => undefined);
      connection.resume();
      connection.write(words);
      await once(connection, 'close');
      expect(connection.destroyed).toBe(true);
    }
  });
});

describe('closing', () => {
  it('ends everything at once: streams, requests that wait, idle connections, half requests', async () => {
    const source = new RecordedSource();
    const { server, open, ask, socket, port } = await inspected({ source });
    source.session = () => new Promise(() => undefined);
    source.records = async function* () {
      yield [];
      await new Promise(() => undefined);
    };
    const live = await open('/api/live');
    const history = await open('/api/records');
    const waiting = ask('/api/sessions/0192f0c1-2345-7abc-8def-0123456789ab').catch((error: unknown) =>
      messageOf(error),
    );
    const half = await socket();
    half.write('GET / HTTP/1.1\r\n');
    for (const each of [live, history, half]) each.on('error', () => undefined).resume();
    const ends = Promise.all(
      [live, history, half].map((each) => new Promise((resolve) => void each.once('close', resolve))),
    );
    await vi.waitFor(() => expect(source.followers).toBe(1));
    await Promise.all([server.close(), server.close()]);
    await ends;
    expect(await waiting).toMatch(/hang up|ECONNRESET/);
    await vi.waitFor(() => expect(source.followers).toBe(0));
    expect(await isFree(port)).toBe(true);
  });

  it('is what `await using` does, and may be done again', async () => {
    const { server, port } = await inspected();
    await server[Symbol.asyncDispose]();
    await server.close();
    expect(await isFree(port)).toBe(true);
  });
});

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen({ host: '127.0.0.1', port, exclusive: true });
  await once(server, 'listening');
  const found = (server.address() as AddressInfo).port === port;
  server.close();
  await once(server, 'close');
  return found;
}
