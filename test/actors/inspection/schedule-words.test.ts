/** The schedules as an inspector tells them: those that run commands too. */
import { expect, it } from 'vitest';
import { shownSchedules } from '../../../src/actors/inspection/schedule-words.ts';
import { MINUTE, START, openDurableStage } from '../schedule/durable-stage.ts';

it('are told with what each does, its last run and how that ended', async () => {
  const stage = await openDurableStage();
  try {
    await stage.add({ id: 'news' });
    await stage.add({ id: 'backup', target: { kind: 'command', command: 'tar c secret', cwd: '/' } });
    const worker = await stage.worker();
    await stage.clock.advance(MINUTE);
    const at = new Date(stage.clock.now()).toISOString();
    const cut = (text: string): string => text.replaceAll('secret', '***');
    const told = async () => shownSchedules(await stage.registry.list(), { at, cut }).parts[0];
    await expect.poll(async () => (await told())?.rows[0]?.[4]?.text).toBe('running');
    const part = await told();
    expect(part).toMatchObject({ title: 'Schedules', count: '2' });
    const [backup, news] = part?.rows ?? [];
    expect(backup?.slice(0, 3)).toEqual([
      { text: 'backup' },
      { text: 'runs tar c ***' },
      { text: 'active', status: 'done' },
    ]);
    expect(backup?.slice(3)).toEqual([
      { since: expect.any(String) },
      { text: 'running', status: 'running' },
      { until: expect.any(String) },
    ]);
    expect(news?.[1]).toMatchObject({ session: stage.sessionId });
    expect(news?.[4]).toMatchObject({ text: expect.stringMatching(/^completed/), status: 'done' });
    expect(shownSchedules([], { at: new Date(START).toISOString(), cut }).parts[0]?.note).toMatch(/^There are none/);
    await worker.stop();
  } finally {
    await stage.close();
  }
});

it('say how late they are and that no worker runs, and those that are paused come last', async () => {
  const stage = await openDurableStage();
  try {
    await stage.add({ id: 'backup' });
    await stage.add({ id: 'news' });
    await stage.registry.pause('backup');
    await stage.clock.advance(MINUTE + 10_000);
    const at = new Date(stage.clock.now()).toISOString();
    const [part] = shownSchedules(await stage.registry.list(), { at, cut: (text) => text }).parts;
    expect(part?.note).toMatch(/^No worker runs/);
    expect(part?.rows.map(([id]) => id?.text)).toEqual(['news', 'backup']);
    expect(part?.rows[0]?.[2]).toEqual({ text: 'no worker runs', status: 'error' });
    expect(part?.rows[0]?.at(-1)).toEqual({ until: '2026-01-01T00:01:00.000Z' });
  } finally {
    await stage.close();
  }
});
