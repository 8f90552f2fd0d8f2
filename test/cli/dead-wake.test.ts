import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start, until } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { Stage, sleeps } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

const HOUR_MS = 3_600_000;

const told = async (...words: readonly string[]): Promise<string> => (await stage.run(...words)).stdout;

/** A wake whose model thinks for an hour. */
async function thinking(): Promise<{ readonly id: string; readonly woken: RunningCommand }> {
  const { id } = await stage.sessionToWake({ delayMs: HOUR_MS, text: 'So.' }, sleeps('never said'));
  const woken = start(['wake', '--session', id, '--home', stage.home]);
  await until('the model to be asked', async () =>
    (await told('session', 'why', '--session', id)).includes('the model is asked'),
  );
  return { id, woken };
}

describe('a wake whose process', () => {
  it('lives is said to run, by `why`, by `list` and by `status`', async () => {
    const { id, woken } = await thinking();
    expect(await told('session', 'why', '--session', id)).toMatch(/A wake runs, epoch 1, by .*: the model is asked/);
    const all = `${await told('session', 'list')}${await told('session', 'status', '--session', id)}`;
    expect(all).not.toContain('died');
    woken.process.kill('SIGINT');
    await woken.ended;
  });

  it('was killed is said to be dead, with the commands that go on with it', async () => {
    const { id, woken } = await thinking();
    woken.process.kill('SIGKILL');
    await woken.ended;
    const why = await told('session', 'why', '--session', id);
    expect(why).toMatch(
      /Its process has died, .*, last heard of \d+ s ago: the model was asked; 0 steps, 0 calls so far\. Nothing is lost/,
    );
    expect(why).toMatch(/wakechart worker|main\.js worker/);
    expect(why).not.toContain('A wake runs');
    expect(await told('session', 'list')).toMatch(new RegExp(`${id}.*running \\(its process died\\)`));
    expect(await told('session', 'status', '--session', id)).toMatch(/^status\s+running \(its process died\)$/m);
    expect(JSON.parse(await told('session', 'status', '--session', id, '--json'))).toMatchObject({ isWakeDead: true });
    expect(JSON.parse(await told('session', 'why', '--session', id, '--json'))).toMatchObject({
      reasons: [{ kind: 'dead' }],
    });
  });
});
