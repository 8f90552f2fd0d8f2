/** The history: an inspection log, streamed. */
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { inspected } from './inspector-client.ts';
import { RecordedSource } from './recorded-source.ts';

const GZIP = { 'accept-encoding': 'gzip, deflate, br' };

function linesOf(text: string): { readonly s?: number; readonly k?: string; readonly format?: string }[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly s?: number });
}

describe('the history', () => {
  it('is a header and one record a line, compressed for who takes it and the same for who does not', async () => {
    const { ask, source } = await inspected();
    source.add(5_000);
    const plain = await ask('/api/records');
    const packed = await ask('/api/records', { headers: GZIP });
    expect(plain.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      vary: 'accept-encoding',
    });
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.text);
    const [header, ...records] = linesOf(plain.text);
    expect(header).toEqual(source.header);
    expect(records.map(({ s }) => s)).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
  });

  it.each([
    ['gzip;q=0', undefined],
    ['gzip;q=0.0', undefined],
    ['identity', undefined],
    ['br', undefined],
    ['gzip;q=0.5', 'gzip'],
    ['br, *', 'gzip'],
  ])('is compressed as asked for: %s', async (accepted, coding) => {
    const { ask } = await inspected();
    expect((await ask('/api/records', { headers: { 'accept-encoding': accepted } })).headers['content-encoding']).toBe(
      coding,
    );
  });

  it('begins where it is asked to, and in the middle of a page', async () => {
    const { ask, source } = await inspected();
    source.add(350);
    expect(
      linesOf((await ask('/api/records?from=333')).text)
        .slice(1)
        .map(({ s }) => s),
    ).toEqual(Array.from({ length: 18 }, (_, index) => index + 333));
    expect(linesOf((await ask('/api/records?from=351')).text)).toHaveLength(1);
  });

  it('begins with the oldest that is left', async () => {
    const { ask, source } = await inspected({ source: new RecordedSource({ limit: 10 }) });
    source.add(100);
    expect(linesOf((await ask('/api/records?from=1')).text)[1]?.s).toBe(91);
  });

  it('ends with what was the newest when it was asked for, whatever is added meanwhile', async () => {
    const source = new RecordedSource();
    source.add(10);
    source.records = async function* () {
      yield [10, 11].map((s) => ({ k: 'error', s, t: 1, a: 'b1:x:0', message: 'last' }));
      for (let s = 12; ; s += 1) yield [{ k: 'error', s, t: 1, a: 'b1:x:0', message: 'later' }];
    };
    const { ask } = await inspected({ source });
    expect(
      linesOf((await ask('/api/records')).text)
        .slice(1)
        .map(({ s }) => s),
    ).toEqual([10]);
  });

  it.each([
    'from=0',
    'from=-1',
    'from=1.5',
    'from=1e3',
    'from=',
    'from=x',
    'from=99999999999999999',
    'from=1&from=2',
    'other=1',
    'from=%31%00',
    '__proto__=1',
  ])('refuses %s', async (query) => {
    const { ask } = await inspected();
    const answer = await ask(`/api/records?${query}`);
    expect([answer.status, (JSON.parse(answer.text) as { code: string }).code]).toEqual([
      400,
      'INSPECTOR_QUERY_INVALID',
    ]);
  });

  it('keeps the numbers of records that cannot be written', async () => {
    const { ask, source } = await inspected();
    source.push([{ k: 'emit', s: 1, t: 1, a: 'b1:x:0', type: 'big', data: 1n } satisfies InspectionRecord]);
    source.add(1);
    expect(
      linesOf((await ask('/api/records')).text)
        .slice(1)
        .map(({ s, k }) => [s, k]),
    ).toEqual([
      [1, 'unwritable'],
      [2, 'error'],
    ]);
  });

  it('says to HEAD what it would be, without a body', async () => {
    const { ask, source } = await inspected();
    source.add(3);
    const { status, headers, bytes } = await ask('/api/records', { method: 'HEAD', headers: GZIP });
    expect([status, headers['content-encoding'], bytes.length]).toEqual([200, 'gzip', 0]);
  });

  it.each([{}, GZIP])(
    'is cut off, not ended, when the source breaks on the way, and its owner hears why: %j',
    async (headers) => {
      const source = new RecordedSource();
      source.add(10);
      source.records = async function* () {
        yield [{ k: 'error', s: 1, t: 1, a: 'b1:x:0', message: 'first' }];
        throw new Error('the disk is gone');
      };
      const { ask, problems } = await inspected({ source });
      await expect(ask('/api/records', { headers })).rejects.toThrow(/aborted|hang up|ECONNRESET/);
      expect(problems).toEqual([new Error('the disk is gone')]);
    },
  );

  it('releases the source when the client leaves in the middle', async () => {
    const source = new RecordedSource();
    source.add(1);
    const left = vi.fn<() => void>();
    source.range = () => ({ first: 1, last: 1_000_000 });
    source.records = async function* () {
      try {
        for (let s = 1; ; s += 1) yield [{ k: 'error', s, t: 1, a: 'b1:x:0', message: 'x'.repeat(4_000) }];
      } finally {
        left();
      }
    };
    for (const headers of [{}, GZIP]) {
      left.mockClear();
      const { open } = await inspected({ source });
      const response = await open('/api/records', { headers });
      response.on('error', () => undefined);
      response.destroy();
      await vi.waitFor(() => expect(left).toHaveBeenCalledOnce());
    }
  });

  it('drops a client that stops reading, and reads no further for it', async () => {
    const source = new RecordedSource();
    const left = vi.fn<() => void>();
    let given = 0;
    source.range = () => ({ first: 1, last: 10_000_000 });
    source.records = async function* () {
      try {
        for (let s = 1; ; s += 1) {
          given = s;
          yield [{ k: 'error', s, t: 1, a: 'b1:x:0', message: 'x'.repeat(64_000) }];
        }
      } finally {
        left();
      }
    };
    const { open } = await inspected({ source, limits: { stallMs: 90, heartbeatMs: 20 } });
    const response = await open('/api/records');
    response.on('error', () => undefined);
    // The response is not read: what the kernel takes is given, and not more.
    await vi.waitFor(() => expect(left).toHaveBeenCalledOnce(), { timeout: 10_000 });
    expect(given).toBeLessThan(2_000);
    response.destroy();
  });
});
