/** The fleet, where what is checked knows of one. */
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { inspected } from './inspector-client.ts';
import { RecordedSource } from './recorded-source.ts';

const EMPTY = { items: [], total: 0, isCut: false };

class FleetSource extends RecordedSource {
  fleet = async (): Promise<never> => {
    throw new RuntimeError('STORAGE_FAILED', 'the server at 10.0.0.1 is away', { category: 'storage' });
  };
}

describe('the fleet', () => {
  it('is told in words', async () => {
    const source = Object.assign(new RecordedSource(), {
      fleet: async () => ({
        at: '2026-01-01T00:00:00.000Z',
        workers: EMPTY,
        leases: EMPTY,
        lag: { sessions: 0, isCut: false, parts: [] },
        parked: EMPTY,
        connections: { open: 1, most: 2 },
        isHearing: true,
      }),
    });
    const { ask, server } = await inspected({ source });
    const { status, text } = await ask('/api/fleet');
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      {
        at: '2026-01-01T00:00:00.000Z',
        parts: [{ title: 'Workers', count: '0' }, { title: 'Wakes' }, { title: 'Lag' }, { title: 'Parked' }],
      },
    ]);
    expect((await ask('/api/fleet?more=1')).status).toBe(400);
    expect((await ask('/api/fleet', { method: 'POST', headers: { origin: server.origin } })).status).toBe(405);
    expect((await ask('/api/fleet', { isStranger: true })).status).toBe(401);
  });

  it('is not there where none is known', async () => {
    const { ask } = await inspected();
    const { status, text } = await ask('/api/fleet');
    expect([status, JSON.parse(text)]).toMatchObject([
      404,
      { code: 'INSPECTOR_NO_FLEET', hint: expect.stringContaining('--store URL') as string },
    ]);
  });

  it('says no more than that the store has failed', async () => {
    const { ask, problems } = await inspected({ source: new FleetSource() });
    const { status, text } = await ask('/api/fleet');
    expect([status, JSON.parse(text)]).toMatchObject([
      500,
      { code: 'STORAGE_FAILED', message: 'what was asked for failed (storage)' },
    ]);
    expect(problems).toHaveLength(1);
  });
});
