/** Events that wait for the next ones. */
import { describe, expect, it } from 'vitest';
import { HeldDrafts } from '../../../src/actors/wake/wake-journal.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';

const draft = (to: 'idle' | 'running'): SessionEventDraft => ({ type: 'session.status_changed', data: { to } });
const [HELD, NEXT] = [draft('running'), draft('idle')];

describe('what is held', () => {
  it('is stored once, before the next thing that is', async () => {
    const held = new HeldDrafts();
    const stored: (readonly SessionEventDraft[])[] = [];
    const append = async (all: readonly SessionEventDraft[]): Promise<number> => stored.push(all);
    held.hold([HELD]);
    await Promise.all([held.store([NEXT], append), held.store([NEXT], append)]);
    expect(stored).toEqual([[HELD, NEXT], [NEXT]]);
  });

  it('is held on when that could not be stored', async () => {
    const held = new HeldDrafts();
    held.hold([HELD]);
    await expect(held.store([NEXT], () => Promise.reject(new Error('moved')))).rejects.toThrow('moved');
    const stored: (readonly SessionEventDraft[])[] = [];
    await held.store([NEXT], async (all) => stored.push(all));
    expect(stored).toEqual([[HELD, NEXT]]);
  });
});
