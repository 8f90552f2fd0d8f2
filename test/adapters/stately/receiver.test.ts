/** What a receiver takes in and what it refuses, with real sockets. */
import { request } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createStatelyReceiver } from '../../../src/adapters/stately/stately-receiver.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import {
  actorFrame,
  connect,
  definition,
  eventFrame,
  receiver,
  recordsOf,
  snapshotFrame,
  until,
  worldOf,
} from './stately-setup.ts';

async function answerOf(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return await new Promise((resolve, reject) => {
    const asked = request(url.replace('ws:', 'http:'), { headers }, (response) => {
      let body = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (body += chunk))
        .on('end', () => resolve({ status: response.statusCode, body }));
    });
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, body: '' });
    });
    asked.on('error', reject).end();
  });
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

describe('who may connect', () => {
  it('is a program, which sends no Origin header', async () => {
    const { url } = await receiver();
    expect((await answerOf(url, UPGRADE)).status).toBe(101);
  });

  it('is no page of an origin that was not named, and the answer and the notes say what to do', async () => {
    const setup = await receiver({ origins: ['http://localhost:5173'] });
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost:5174',
      'http://localhost:5173.evil.example',
      'HTTP://LOCALHOST:5173',
      '',
    ]) {
      const { status, body } = await answerOf(setup.url, { ...UPGRADE, origin });
      expect([origin, status]).toEqual([origin, 403]);
      expect(body).toContain('--stately-origin');
    }
    expect((await answerOf(setup.url, { ...UPGRADE, origin: 'http://localhost:5173' })).status).toBe(101);
    expect(setup.statistics.refused).toBe(6);
    expect(setup.source().about().notes.join('\n')).toContain('--stately-origin');
  });

  it('is nobody who was led here by another name', async () => {
    const { url } = await receiver();
    expect((await answerOf(url, { ...UPGRADE, host: 'evil.example' })).status).toBe(421);
    expect((await answerOf(url, { ...UPGRADE, host: `localhost:${new URL(url).port}` })).status).toBe(101);
  });

  it('is no more than the limit', async () => {
    const { url } = await receiver({ limits: { connections: 1 } });
    await connect(url);
    expect((await answerOf(url, UPGRADE)).status).toBe(503);
  });

  it('is nobody who only checks', async () => {
    const { url } = await receiver();
    expect((await answerOf(url, {})).status).toBe(426);
    expect((await answerOf(url, { ...UPGRADE, upgrade: 'h2c' })).status).toBe(400);
  });
});

describe('a receiver', () => {
  it('refuses every address that others can reach, and options that it does not know', async () => {
    const start = (options: Readonly<Record<string, unknown>>): Promise<unknown> =>
      createStatelyReceiver({ port: 0, clock: createSystemClock(), onProblem: () => undefined, ...options });
    for (const options of [
      { host: '0.0.0.0' },
      { host: '::' },
      { host: '10.0.0.1' },
      { host: 'localhost' },
      { origins: ['localhost:5173'] },
      { origins: ['http://a/b'] },
      { origins: ['null'] },
      { origins: ['*'] },
      { port: 70_000 },
      { more: 1 },
      { limits: { frameBytes: 0 } },
    ]) {
      await expect(start(options)).rejects.toMatchObject({ code: 'STATELY_OPTIONS_INVALID' });
    }
  });

  it('says that its port is taken', async () => {
    const { url } = await receiver();
    const again = createStatelyReceiver({
      port: Number(new URL(url).port),
      clock: createSystemClock(),
      onProblem: () => undefined,
    });
    await expect(again).rejects.toMatchObject({ code: 'STATELY_PORT_TAKEN' });
  });

  it('frees its port, and keeps what it received', async () => {
    const setup = await receiver();
    const socket = await connect(setup.url);
    socket.send(actorFrame('x:0'));
    await until(setup.recording, () => setup.statistics.frames === 1 || undefined);
    await setup.close();
    await setup.close();
    expect((await worldOf(setup.recording)).actors().map(({ status }) => status)).toEqual(['stopped', 'stopped']);
    expect(setup.source().about().hasEnded).toBe(true);
    const next = await receiver({ port: Number(new URL(setup.url).port) });
    expect(next.url).toBe(setup.url);
  });

  it('disconnects a program whose frame is too long, and says why', async () => {
    const setup = await receiver({ limits: { frameBytes: 10_000 } });
    const socket = await connect(setup.url);
    socket.send('x'.repeat(20_000));
    await until(setup.recording, () => setup.statistics.programs === 0 || undefined);
    expect((await worldOf(setup.recording)).actors()[0]?.error?.message).toMatch(/payload/i);
  });

  it('disconnects who speaks another language', async () => {
    const setup = await receiver();
    const socket = await connect(setup.url);
    for (let count = 0; count < 1_200; count += 1) socket.send('GET / HTTP/1.1');
    await until(setup.recording, () => setup.statistics.programs === 0 || undefined);
    expect(setup.statistics.lostFrames).toBe(1_000);
    expect(setup.source().about().notes.join('\n')).toMatch(/1000 frames are not shown; .*expected JSON/);
  });

  it('forgets the oldest, and still knows who is there', async () => {
    const setup = await receiver({ limits: { records: 10 } });
    const socket = await connect(setup.url);
    socket.send(actorFrame('x:0'));
    for (let count = 0; count < 50; count += 1)
      socket.send(snapshotFrame('x:0', count % 2 === 0 ? 'open' : 'shut', count % 2 === 0 ? 'OPEN' : 'CLOSE'));
    await until(setup.recording, () => setup.statistics.frames === 51 || undefined);
    const records = await recordsOf(setup.recording);
    const { first, last } = setup.recording.range();
    expect(records.map(({ s }) => s)).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index));
    expect(records.slice(0, 3).map(({ k }) => k)).toEqual(['machine', 'actor', 'actor']);
    expect((await worldOf(setup.recording)).actors({ text: 'door' }).map(({ value }) => value)).toEqual(['shut']);
    expect(setup.source().about().notes.join('\n')).toMatch(/older records were forgotten/);
    expect(setup.recording.chart('door')).toBeDefined();
  });

  it('forgets actors that are over before it loses any that live, and counts what it loses', async () => {
    const setup = await receiver({ limits: { actors: 2 } });
    const socket = await connect(setup.url);
    for (const id of ['x:0', 'x:1']) socket.send(actorFrame(id));
    socket.send(actorFrame('x:2'));
    socket.send(snapshotFrame('x:0', 'open', 'OPEN', { snapshot: { status: 'done', value: 'open' } }));
    socket.send(actorFrame('x:3'));
    await until(setup.recording, () => setup.statistics.frames === 5 || undefined);
    expect(setup.statistics.lostFrames).toBe(1);
    expect((await worldOf(setup.recording)).actors({ text: 'x:' }).map(({ key }) => key.slice(-3))).toEqual([
      'x:0',
      'x:1',
      'x:3',
    ]);
  });

  it('takes secrets out of everything, and cuts what is long', async () => {
    const setup = await receiver({ redact: (text) => text.replaceAll('sk-secret', '***') });
    const socket = await connect(setup.url);
    socket.send(actorFrame('sk-secret', { name: 'sk-secret' }));
    socket.send(eventFrame('sk-secret', { type: 'sk-secret', 'sk-secret': ['sk-secret', 'y'.repeat(100_000)] }));
    socket.send(
      snapshotFrame('sk-secret', { 'sk-secret': 'sk-secret' }, 'sk-secret', {
        snapshot: { status: 'error', value: 'shut', context: { a: 'sk-secret' }, error: { message: 'sk-secret' } },
      }),
    );
    await until(setup.recording, () => setup.statistics.frames === 3 || undefined);
    const text = JSON.stringify(await recordsOf(setup.recording));
    expect(text).not.toContain('sk-secret');
    expect(text).toContain('***');
    expect(text.length).toBeLessThan(20_000);
  });

  it('tells followers once for each turn, and is not hurt by one that throws', async () => {
    const problems: unknown[] = [];
    const setup = await receiver({ onProblem: (error) => problems.push(error) });
    setup.recording.follow(() => {
      throw new Error('mine');
    });
    const socket = await connect(setup.url);
    socket.send(actorFrame('x:0'));
    await until(setup.recording, () => setup.statistics.frames === 1 || undefined);
    expect(String(problems[0])).toContain('mine');
  });

  it('shows the sessions of another source beside it, and without one has none', async () => {
    const source = (await receiver()).source();
    expect(await source.sessions({ limit: 5 })).toEqual({ sessions: [], total: 0 });
    expect(await source.session('s')).toBeUndefined();
    expect(await source.processes('s')).toEqual([]);
    await expect(source.answer('s', { type: 'allow', requestId: 'r' })).rejects.toMatchObject({
      category: 'not_found',
    });
  });

  it('stays whole whatever is sent to it', async () => {
    const setup = await receiver();
    const socket = await connect(setup.url);
    // Mostly what a program sends, with something wrong here and there: what is refused at the door tests the door
    // only.
    const mostly = <Usual, Odd>(usual: fc.Arbitrary<Usual>, odd: fc.Arbitrary<Odd>): fc.Arbitrary<Usual | Odd> =>
      fc.oneof({ arbitrary: usual, weight: 12 }, { arbitrary: odd, weight: 1 });
    const id = mostly(fc.constantFrom('x:0', 'x:1', 'x:2'), fc.constantFrom('', null, '__proto__'));
    const status = mostly(
      fc.constantFrom('active', 'active', 'active', 'active', 'done', 'error', 'stopped'),
      fc.constantFrom('other', 7),
    );
    const value = mostly(
      fc.constantFrom('shut', 'open'),
      fc.oneof(fc.constantFrom('elsewhere', {}, { shut: {} }), fc.jsonValue({ maxDepth: 3 })),
    );
    const event = mostly(
      fc.record({ type: fc.constantFrom('OPEN', 'CLOSE', 'NONE'), data: fc.jsonValue() }),
      fc.oneof(fc.record({ type: fc.string() }), fc.jsonValue()),
    );
    const frame = fc.record(
      {
        type: mostly(
          fc.constantFrom('@xstate.actor', '@xstate.event', '@xstate.snapshot', '@xstate.snapshot'),
          fc.constantFrom('@xstate.microstep', 7),
        ),
        sessionId: id,
        sourceId: id,
        parentId: id,
        rootId: id,
        name: fc.string(),
        createdAt: fc.oneof(fc.string(), fc.constantFrom('1', '99999999999999999')),
        definition: mostly(fc.constant(definition), fc.oneof(fc.string(), fc.json({ maxDepth: 3 }))),
        event,
        snapshot: mostly(
          fc.record({ status, value, context: fc.jsonValue(), output: fc.jsonValue(), error: fc.jsonValue() }),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: ['type', 'sessionId', 'event', 'snapshot'] },
    );
    const frames = fc.sample(
      fc.oneof({ arbitrary: frame.map((each) => JSON.stringify(each)), weight: 20 }, fc.string(), fc.json()),
      { seed: 20_260_614, numRuns: 900 },
    );
    for (const each of frames) socket.send(each);
    await until(setup.recording, async () => {
      socket.send(eventFrame('last', { type: 'LAST' }));
      return (await worldOf(setup.recording)).actors({ text: ':last' }).length > 0 || undefined;
    });
    const records = await recordsOf(setup.recording);
    expect(records.map(({ s }) => s)).toEqual(records.map((_, index) => index + 1));
    const timeline = new InspectionTimeline();
    expect(timeline.append(records)).toBe(records.length);
    // It was no test where little of it came through, or little was refused.
    const countOf = (kind: InspectionRecord['k']): number => records.filter(({ k }) => k === kind).length;
    const known = records.filter(
      (each) => each.k === 'step' && each.taken.some((taken) => taken.startsWith('shut|') || taken.startsWith('open|')),
    );
    const least = { actor: 100, machine: 1, event: 100, step: 200, snap: 60 };
    expect(Object.entries(least).filter(([kind, count]) => countOf(kind as InspectionRecord['k']) < count)).toEqual([]);
    expect([known.length > 40, setup.statistics.lostFrames > 100, setup.statistics.lostFrames < 450]).toEqual([
      true,
      true,
      true,
    ]);
  });
});
