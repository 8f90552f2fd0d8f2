/** Records as they are made: server-sent events that can be resumed. */
import { describe, expect, it, vi } from 'vitest';
import { messageOf } from '../../../src/machines/errors.ts';
import { eventsOf, inspected, numbersIn } from './inspector-client.ts';
import type { LiveEvent } from './inspector-client.ts';
import type { InspectionSource } from '../../../src/actors/inspection/inspection-source.ts';
import { RecordedSource, SESSION } from './recorded-source.ts';

type Events = AsyncGenerator<LiveEvent>;

async function next(events: Events): Promise<LiveEvent> {
  const { value, done } = await events.next();
  if (done === true) throw new Error('the stream has ended');
  return value;
}

/** Numbers of records, in as many events as it takes to have `count`. */
async function numbers(events: Events, count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) found.push(...numbersIn(await next(events)));
  return found;
}

async function readAll(events: Events): Promise<void> {
  while ((await events.next()).done !== true);
}

const upTo = (last: number, from = 1): number[] => Array.from({ length: last - from + 1 }, (_, index) => from + index);

describe('a browser that follows', () => {
  it('hears where it stands, then every record that is made, with the number of the last as the id', async () => {
    const { open, source } = await inspected();
    source.add(5);
    const response = await open('/api/live');
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(response);
    expect(JSON.parse((await next(events)).data ?? '')).toEqual({ boot: 'b1', first: 1, last: 5 });
    source.add(3);
    const event = await next(events);
    expect([event.event, event.id, numbersIn(event)]).toEqual(['records', 'b1:8', [6, 7, 8]]);
    response.destroy();
  });

  it('begins after what it has loaded, and misses nothing and hears nothing twice while records are made', async () => {
    const { open, source } = await inspected();
    source.add(1_000);
    const response = await open('/api/live?from=501');
    const events = eventsOf(response);
    await next(events);
    const adding = setInterval(() => source.add(37), 0);
    const found = await numbers(events, 2_000);
    clearInterval(adding);
    expect(found).toEqual(upTo(500 + found.length, 501));
    response.destroy();
  });

  it('goes on after the last it read when its connection broke', async () => {
    const { open, source } = await inspected();
    source.add(10);
    const first = eventsOf(await open('/api/live?from=1'));
    await next(first);
    const { id = '' } = await next(first);
    await first.return(undefined);
    source.add(10);
    const again = await open('/api/live?from=1', { headers: { 'last-event-id': id } });
    const events = eventsOf(again);
    await next(events);
    expect(await numbers(events, 10)).toEqual(upTo(20, 11));
    again.destroy();
  });

  it.each([
    ['other:5', 'other_program'],
    ['b1:x', 'other_program'],
    ['5', 'other_program'],
    ['b1:5', 'too_far_behind'],
    ['b1:5000', 'from_the_future'],
  ])('is told to load anew when it comes back with %s: %s', async (id, reason) => {
    const { open, source } = await inspected({ source: new RecordedSource({ limit: 10 }) });
    source.add(100);
    const events = eventsOf(await open('/api/live', { headers: { 'last-event-id': id } }));
    await next(events);
    const reload = await next(events);
    expect([reload.event, JSON.parse(reload.data ?? '')]).toEqual([
      'reload',
      { reason, boot: 'b1', first: 91, last: 100 },
    ]);
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  it('goes on where it was in the log of a stranger, whose name is told in one line', async () => {
    const boot = 'b\nevent: records\ndata: [{"s":1}]\n\nid: ü\ud800';
    const source = new RecordedSource();
    Object.defineProperty(source, 'header', { value: { ...source.header, boot } });
    source.add(5);
    const { open } = await inspected({ source });
    const response = await open('/api/live?from=1');
    const events = eventsOf(response);
    expect((await next(events)).event).toBe('hello');
    const { id = '', event, data = '' } = await next(events);
    response.destroy();
    expect([event, JSON.parse(data), id]).toEqual([
      'records',
      expect.any(Array),
      expect.stringMatching(/^[\w%.-]+:5$/),
    ]);
    source.add(1);
    const again = eventsOf(await open('/api/live', { headers: { 'last-event-id': id } }));
    await next(again);
    expect(numbersIn(await next(again))).toEqual([6]);
  });

  it('that reads more slowly than records are forgotten is told to load anew', async () => {
    const { open, source } = await inspected({ source: new RecordedSource({ limit: 300 }) });
    const response = await open('/api/live');
    await vi.waitFor(() => expect(source.followers).toBe(1));
    // More than the kernel keeps for one that does not read, and every record of it forgotten meanwhile.
    for (let round = 0; round < 60; round += 1) {
      source.add(100, 'x'.repeat(4_000));
      await new Promise(setImmediate);
    }
    const found: LiveEvent[] = [];
    for await (const event of eventsOf(response)) found.push(event);
    const seen = found.filter(({ event }) => event === 'records').flatMap(numbersIn);
    expect(seen).toEqual(upTo(seen.length));
    expect(found.at(-1)?.event).toBe('reload');
    expect(source.followers).toBe(0);
  });

  it('that reads nothing is dropped, and finds its place when it comes back', async () => {
    const { open, source } = await inspected({ limits: { stallMs: 90, heartbeatMs: 20 } });
    const response = await open('/api/live');
    response.on('error', () => undefined);
    await vi.waitFor(() => expect(source.followers).toBe(1));
    source.add(1_000, 'x'.repeat(20_000));
    await vi.waitFor(() => expect(source.followers).toBe(0), { timeout: 10_000 });
    response.destroy();
    const again = await open('/api/live', { headers: { 'last-event-id': 'b1:990' } });
    const events = eventsOf(again);
    await next(events);
    expect(await numbers(events, 10)).toEqual(upTo(1_000, 991));
    again.destroy();
  });

  it('hears a heartbeat while nothing happens, so that a quiet stream is not a stalled one', async () => {
    const { open } = await inspected({ limits: { stallMs: 90, heartbeatMs: 15 } });
    const response = await open('/api/live');
    const events = eventsOf(response);
    await next(events);
    for (let beats = 0; beats < 8; beats += 1) expect((await next(events)).isComment).toBe(true);
    response.destroy();
  });

  it('is released when it leaves', async () => {
    const { open, source } = await inspected();
    const response = await open('/api/live');
    await vi.waitFor(() => expect(source.followers).toBe(1));
    response.destroy();
    await vi.waitFor(() => expect(source.followers).toBe(0));
  });

  it('is refused when too many follow, and let in when one has left', async () => {
    const { ask, open, source } = await inspected({ limits: { maxLiveStreams: 2 } });
    const [one] = [await open('/api/live'), await open('/api/live')];
    const refused = await ask('/api/live');
    expect([
      refused.status,
      refused.headers['retry-after'],
      (JSON.parse(refused.text) as { code: string }).code,
    ]).toEqual([503, '5', 'INSPECTOR_TOO_MANY_FOLLOWERS']);
    one.destroy();
    await vi.waitFor(() => expect(source.followers).toBe(1));
    const other = await open('/api/live');
    expect(other.statusCode).toBe(200);
    other.destroy();
  });

  it('hurts no other when the source breaks, and its owner hears why', async () => {
    const source = new RecordedSource();
    const { open, problems } = await inspected({ source });
    const response = await open('/api/live');
    await vi.waitFor(() => expect(source.followers).toBe(1));
    source.records = () => {
      throw new Error('no records today');
    };
    const ended = readAll(eventsOf(response)).catch((error: unknown) => messageOf(error));
    source.add(1);
    expect(await ended).toMatch(/aborted|ECONNRESET/);
    expect([problems, source.followers]).toEqual([[new Error('no records today')], 0]);
  });

  it('hurts no other when the source lets none follow', async () => {
    const source = new RecordedSource();
    source.follow = () => {
      throw new Error('none follows me');
    };
    const { ask, problems } = await inspected({ source });
    await expect(ask('/api/live')).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    expect(problems).toEqual([new Error('none follows me')]);
  });

  it('does not make the server spin when the source has less than it says', async () => {
    const source = new RecordedSource();
    const asked = vi.fn<() => void>();
    source.range = () => ({ first: 1, last: 5 });
    source.records = async function* () {
      asked();
      yield [];
    };
    const { open } = await inspected({ source, limits: { heartbeatMs: 10 } });
    const response = await open('/api/live?from=1');
    const events = eventsOf(response);
    await next(events);
    await next(events);
    expect(asked.mock.calls.length).toBeLessThan(4);
    response.destroy();
  });
});

describe('what is said', () => {
  it('comes beside the records of its session, all of it each time, and null when it is over', async () => {
    const { open, source } = await inspected();
    const listeners = new Set<() => void>();
    let text: string | undefined = 'Once';
    source.recordingOf = async () => source;
    const speaking: InspectionSource = source;
    Object.assign(speaking, {
      speech: (session: string) => ({
        now: () =>
          text === undefined || session !== SESSION
            ? undefined
            : { parts: [{ kind: 'text', text }], isCut: false, calls: [] },
        follow: (listener: () => void) => {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      }),
    });
    const response = await open(`/api/live?session=${SESSION}`);
    const events = eventsOf(response);
    const said = async (): Promise<unknown> => {
      for (;;) {
        const { event, data = '' } = await next(events);
        if (event === 'speech') return JSON.parse(data);
      }
    };
    expect(await said()).toMatchObject({ parts: [{ text: 'Once' }] });
    // A hundred pieces are one event.
    for (let count = 0; count < 100; count += 1) {
      text += ' upon';
      for (const listener of listeners) listener();
    }
    expect(await said()).toMatchObject({ parts: [{ text }] });
    text = undefined;
    for (const listener of listeners) listener();
    expect(await said()).toBeNull();
    response.destroy();
    await vi.waitFor(() => expect(listeners.size).toBe(0));
    const main = await open('/api/live');
    const hello = eventsOf(main);
    await next(hello);
    expect(listeners.size).toBe(0);
    main.destroy();
  });
});
