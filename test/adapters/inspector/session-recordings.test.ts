/**
 * The recordings of sessions, their events, processes and changes over HTTP: what is asked for, what is refused, and
 * what takes too long.
 */
import { describe, expect, it } from 'vitest';
import type { InspectionRecording } from '../../../src/actors/inspection/inspection-source.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { inspected } from './inspector-client.ts';
import type { Answer } from './inspector-client.ts';
import { RecordedSource, SESSION } from './recorded-source.ts';

const codeOf = ({ status, text }: Answer): unknown[] => [status, (JSON.parse(text) as { readonly code?: string }).code];
const OF_SESSIONS = [
  '/api/records?session=',
  '/api/live?session=',
  '/api/charts/task?session=',
  '/api/charts/task.svg?session=',
  '/api/sessions/',
];
const BAD_IDS = [
  'x',
  '..',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..%5c..',
  SESSION.toUpperCase(),
  `${SESSION}%00`,
  '__proto__',
  'x'.repeat(3_000),
  '',
];

/** A source that notes which sessions it was asked about. */
function asked(): { readonly source: RecordedSource; readonly ids: string[] } {
  const source = new RecordedSource();
  const ids: string[] = [];
  const recording: InspectionRecording = new RecordedSource();
  source.recordingOf = async (id) => {
    ids.push(id);
    return recording;
  };
  source.events = async (id) => {
    ids.push(id);
    return { events: [], head: 0 };
  };
  source.processes = async (id) => {
    ids.push(id);
    return [];
  };
  source.changes = async (id) => {
    ids.push(id);
    return [];
  };
  return { source, ids };
}

describe('what is about a session', () => {
  it.each(OF_SESSIONS.slice(0, 4).flatMap((path) => BAD_IDS.map((id) => [path + id])))(
    'names one that can be, or no source is asked: %s',
    async (path) => {
      const { source, ids } = asked();
      const { ask } = await inspected({ source });
      expect([codeOf(await ask(path)), ids]).toEqual([[404, 'INSPECTOR_SESSION_UNKNOWN'], []]);
    },
  );

  it.each(
    ['events', 'transcript', 'processes', 'changes'].flatMap((part) =>
      BAD_IDS.filter((id) => id !== '').map((id) => [`/api/sessions/${id}/${part}`]),
    ),
  )('names one that can be in its path too: %s', async (path) => {
    const { source, ids } = asked();
    const { ask } = await inspected({ source });
    expect([(await ask(path)).status, ids]).toEqual([404, []]);
  });

  it('is not there where the session is not', async () => {
    const { ask, problems } = await inspected();
    for (const path of [
      ...OF_SESSIONS.slice(0, 4).map((start) => start + SESSION),
      `/api/sessions/${SESSION}/events`,
      `/api/sessions/${SESSION}/transcript`,
    ])
      expect(codeOf(await ask(path))).toEqual([404, 'INSPECTOR_SESSION_UNKNOWN']);
    expect(problems).toEqual([]);
  });

  it.each(['from=0', 'from=-1', 'from=x', 'from=1&from=2', 'limit=0', 'limit=1001', 'limit=1e3', 'more=1'])(
    'takes no other numbers or parameters: %s',
    async (query) => {
      const { source, ids } = asked();
      const { ask } = await inspected({ source });
      for (const part of ['events', 'transcript'])
        expect([codeOf(await ask(`/api/sessions/${SESSION}/${part}?${query}`)), ids]).toEqual([
          [400, 'INSPECTOR_QUERY_INVALID'],
          [],
        ]);
    },
  );

  it.each([
    `/api/records?session=${SESSION}&session=${SESSION}`,
    `/api/live?session=${SESSION}&limit=1`,
    '/api/about?x=1',
    `/api/sessions/${SESSION}/processes?x=1`,
    `/api/sessions/${SESSION}/changes?from=1`,
    `/api/charts/task?from=1`,
  ])('takes each parameter once, and only its own: %s', async (path) => {
    const { ask } = await inspected({ source: asked().source });
    expect(codeOf(await ask(path))).toEqual([400, 'INSPECTOR_QUERY_INVALID']);
  });

  it.each([
    '/api/about',
    `/api/records?session=${SESSION}`,
    `/api/sessions/${SESSION}/events`,
    `/api/sessions/${SESSION}/transcript`,
    `/api/sessions/${SESSION}/processes`,
    `/api/sessions/${SESSION}/changes`,
    `/api/live?session=${SESSION}`,
  ])('is for who has signed in, and read only: %s', async (path) => {
    const { source, ids } = asked();
    const { ask, server } = await inspected({ source });
    expect((await ask(path, { isStranger: true })).status).toBe(401);
    expect((await ask(path, { headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await ask(path, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await ask(path, { method: 'POST', headers: { origin: server.origin } })).status).toBe(405);
    expect(ids).toEqual([]);
  });

  it('gives the events that are asked for, 200 by default', async () => {
    const source = new RecordedSource();
    const options: unknown[] = [];
    source.events = async (_id, given) => {
      options.push(given);
      return { events: [], head: 7 };
    };
    const { ask } = await inspected({ source });
    expect(JSON.parse((await ask(`/api/sessions/${SESSION}/events`)).text)).toEqual({ events: [], head: 7 });
    await ask(`/api/sessions/${SESSION}/events?from=5&limit=1000`);
    expect(options).toEqual([
      { from: 1, limit: 200 },
      { from: 5, limit: 1_000 },
    ]);
  });

  it('gives the same events as steps of a transcript', async () => {
    const source = new RecordedSource();
    const options: unknown[] = [];
    source.events = async (_id, given) => {
      options.push(given);
      return {
        events: [
          {
            id: 'e',
            seq: 5,
            at: '2026-01-01T00:00:00.000Z',
            sessionId: SESSION,
            type: 'user.message',
            v: 1,
            data: { text: 'Go on.', delivery: 'queue' },
          },
        ],
        head: 7,
      };
    };
    const { ask } = await inspected({ source });
    expect(JSON.parse((await ask(`/api/sessions/${SESSION}/transcript`)).text)).toEqual({
      steps: [
        {
          seq: 5,
          type: 'user.message',
          t: 1_767_225_600_000,
          entry: { kind: 'heard', title: 'Message', text: 'Go on.' },
        },
      ],
      head: 7,
    });
    await ask(`/api/sessions/${SESSION}/transcript?from=5&limit=1000`);
    expect(options).toEqual([
      { from: 1, limit: 200 },
      { from: 5, limit: 1_000 },
    ]);
  });

  it.each([
    ['recordingOf', ''],
    ['events', 'events'],
    ['events', 'transcript'],
    ['processes', 'processes'],
    ['changes', 'changes'],
  ] as const)('that takes too long is a clear error: %s, %s', async (method, part) => {
    const source = new RecordedSource();
    Object.assign(source, { [method]: () => new Promise(() => undefined) });
    const { ask } = await inspected({ source, limits: { requestMs: 30 } });
    const path = method === 'recordingOf' ? `/api/records?session=${SESSION}` : `/api/sessions/${SESSION}/${part}`;
    expect(codeOf(await ask(path))).toEqual([504, 'INSPECTOR_SOURCE_SLOW']);
    if (method === 'recordingOf')
      expect(codeOf(await ask(`/api/live?session=${SESSION}`))).toEqual([504, 'INSPECTOR_SOURCE_SLOW']);
  });

  it('that fails inside says nothing of the inside', async () => {
    const source = new RecordedSource();
    source.changes = () => Promise.reject(new RuntimeError('SOME_CODE', 'EACCES: /srv/data', { category: 'storage' }));
    source.processes = () => Promise.reject(new TypeError('x is not a function'));
    const { ask, problems } = await inspected({ source });
    expect((await ask(`/api/sessions/${SESSION}/changes`)).text).not.toContain('/srv');
    expect(codeOf(await ask(`/api/sessions/${SESSION}/processes`))).toEqual([500, 'INSPECTOR_FAILED']);
    expect(problems).toHaveLength(2);
  });

  it('that is followed counts among those who follow, and gives its place back when it cannot be had', async () => {
    const source = new RecordedSource();
    source.recordingOf = async () => undefined;
    const { ask, open } = await inspected({ source, limits: { maxLiveStreams: 1 } });
    for (let count = 0; count < 3; count += 1) expect((await ask(`/api/live?session=${SESSION}`)).status).toBe(404);
    const recording = new RecordedSource();
    source.recordingOf = async () => recording;
    const live = await open(`/api/live?session=${SESSION}`);
    expect(codeOf(await ask('/api/live'))).toEqual([503, 'INSPECTOR_TOO_MANY_FOLLOWERS']);
    live.destroy();
    await expect.poll(() => recording.followers, { interval: 5 }).toBe(0);
  });

  it('comes from the recording of that session, and from no other', async () => {
    const source = new RecordedSource();
    const recording = new RecordedSource();
    source.add(5);
    recording.add(3, 'of the session');
    source.recordingOf = async (id) => (id === SESSION ? recording : undefined);
    const { ask } = await inspected({ source });
    expect((await ask(`/api/records?session=${SESSION}`)).text.trim().split('\n')).toHaveLength(4);
    expect((await ask('/api/records')).text.trim().split('\n')).toHaveLength(6);
    expect((await ask(`/api/records?session=${SESSION}&from=3`)).text).toContain('of the session');
  });
});
