/** Events as they come: where a client was cut off it goes on, and one that is gone costs nothing. */
import { describe, expect, it } from 'vitest';
import { SPEAKER, speakingBackend } from '../../support/speaking-backend.ts';
import { codeIn, serve, sessionOf } from './served.ts';
import type { Served } from './served.ts';

const SSE = { accept: 'text/event-stream' };

interface Reading {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Until what was read so far includes this. */
  until(text: string): Promise<string>;
}

function read(response: Response): Reading {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let so = '';
  return {
    reader,
    async until(text) {
      while (!so.includes(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`expected ${text}, the stream ended after: ${so}`);
        so += decoder.decode(value);
      }
      return so;
    },
  };
}

const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));

const say = (served: Served, id: string, text = 'Hi'): Promise<Response> =>
  served.post(`/sessions/${id}/messages`, { text });

describe('a stream of events', () => {
  it('has what is stored and then what comes, with numbers to go on from', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    await say(served, id, 'first');
    const stream = read(await served.get(`/sessions/${id}/events`, { headers: SSE }));
    expect(numbersIn(await stream.until('id: 2\n'))).toEqual([1, 2]);
    await say(served, id, 'second');
    const text = await stream.until('id: 3\nevent: user.message\n');
    expect(text).toMatch(/^:\n\n/);
    await stream.reader.cancel();
    const again = read(await served.get(`/sessions/${id}/events`, { headers: { ...SSE, 'last-event-id': '2' } }));
    expect(numbersIn(await again.until('id: 3\n'))).toEqual([3]);
    await again.reader.cancel();
  });

  it('has words where they are asked for, which have no number', async () => {
    const backend = speakingBackend();
    await using served = await serve({}, { runtimes: [backend.runtime] });
    const id = await sessionOf(served, [], { agent: SPEAKER });
    const stream = read(await served.get(`/sessions/${id}/events?words=1&from=2`, { headers: SSE }));
    await say(served, id);
    await stream.until('id: 2\n');
    const waking = served.setup.runtime.wake(id);
    const voice = await backend.voice();
    await stream.until('event: span.started');
    voice.say('Once');
    expect(await stream.until('event: word\n')).toContain(
      'event: word\ndata: {"type":"said","kind":"text","text":"Once"}\n\n',
    );
    backend.end();
    await waking;
    await stream.until('event: session.status_idle');
    await stream.reader.cancel();
  });

  it('says from time to time that it lives, and ends when the runtime is shut down', async () => {
    const served = await serve({ heartbeatMs: 1_000 });
    const id = await sessionOf(served, []);
    const stream = read(await served.get(`/sessions/${id}/events?from=2`, { headers: SSE }));
    await stream.until(':\n\n');
    const next = stream.until(':\n\n:\n\n');
    await served.setup.clock.advance(1_000);
    expect(await next).toBe(':\n\n:\n\n');
    const last = stream.reader.read();
    await served.setup.close();
    expect(await last).toMatchObject({ done: true });
  });

  it('ends after its time, so that who is not authorized any more sees no more', async () => {
    await using served = await serve({ maxStreamMs: 5_000 });
    const id = await sessionOf(served, []);
    const stream = read(await served.get(`/sessions/${id}/events?from=2`, { headers: SSE }));
    await stream.until(':\n\n');
    const last = stream.reader.read();
    await served.setup.clock.advance(5_000);
    expect(await last).toMatchObject({ done: true });
  });

  it.each(['abc', '-1', '99', '1.5', '9'.repeat(400), '1\u00a0'])(
    'does not begin behind event %j, which there is not',
    async (last) => {
      await using served = await serve();
      const id = await sessionOf(served, []);
      const response = await served.get(`/sessions/${id}/events`, { headers: { ...SSE, 'last-event-id': last } });
      expect([response.status, await codeIn(response)]).toEqual([400, 'API_REQUEST_INVALID']);
    },
  );

  it('is let go of when its client is gone, whichever way that is told', async () => {
    await using served = await serve({ maxStreams: 2, rate: false });
    const id = await sessionOf(served, []);
    const open = (signal?: AbortSignal): Promise<Response> =>
      served.get(`/sessions/${id}/events`, { headers: SSE, ...(signal && { signal }) });
    const leaving = new AbortController();
    const [one, other] = [await open(), await open(leaving.signal)];
    const third = await open();
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '5']);
    await one.body?.cancel();
    leaving.abort();
    const drained = new Response(other.body).text();
    await served.post(`/sessions/${id}/messages`, { text: 'Hi' });
    await drained;
    const two = [await open(), await open()];
    expect(two.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of two) await body?.cancel();
  });

  it('waits for a slow client: nothing is read ahead for it', async () => {
    await using served = await serve({ rate: false });
    const id = await sessionOf(served, []);
    for (let count = 0; count < 50; count += 1) await say(served, id, 'x'.repeat(10_000));
    const response = await served.get(`/sessions/${id}/events`, { headers: SSE });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    // The comment, and then one event at a time.
    expect(first.value?.byteLength).toBe(3);
    expect((await reader.read()).value?.byteLength).toBeLessThan(1_000);
    expect((await reader.read()).value?.byteLength).toBeLessThan(11_000);
    await reader.cancel();
  });

  it('is held open by two hundred followers, each of which gets everything', async () => {
    await using served = await serve({ maxStreams: 200, rate: false });
    const id = await sessionOf(served, []);
    const streams = await Promise.all(
      Array.from({ length: 200 }, async () => read(await served.get(`/sessions/${id}/events`, { headers: SSE }))),
    );
    await Promise.all(streams.map((stream) => stream.until('id: 1\n')));
    for (let count = 0; count < 5; count += 1) await say(served, id);
    const texts = await Promise.all(streams.map((stream) => stream.until('id: 6\n')));
    expect(new Set(texts.map((text) => numbersIn(text).join())).size).toBe(1);
    await Promise.all(streams.map(({ reader }) => reader.cancel()));
    expect((await served.get(`/sessions/${id}/events`, { headers: SSE })).status).toBe(200);
  });
});
