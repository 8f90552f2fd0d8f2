/** Another program, in a process of its own, with the real inspector of Stately. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StatelyReceiver } from '../../../src/adapters/stately/stately-receiver.ts';
import type { InspectionRecordOf } from '../../../src/machines/inspection-log/inspection-record.ts';
import { receiver, recordsOf, until, worldOf } from './stately-setup.ts';

const PROGRAM = fileURLToPath(new URL('fixtures/light-program.mjs', import.meta.url));

function start(url: string): { readonly child: ChildProcess; readonly send: (event: object) => void } {
  const child = spawn(process.execPath, [PROGRAM, url], { stdio: ['pipe', 'ignore', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, send: (event) => void child.stdin?.write(`${JSON.stringify(event)}\n`) };
}

async function reaches(setup: StatelyReceiver, value: string, program = 1): Promise<void> {
  await until(
    setup.recording,
    async () =>
      (await worldOf(setup.recording))
        .actors({ text: `.${program}:` })
        .some((actor) => actor.chart === 'light' && actor.value === value) || undefined,
  );
}

describe('a program with the real inspector', () => {
  it('shows its chart, its actors and what each event led to, live', async () => {
    const setup = await receiver();
    const { child, send } = start(setup.url);
    await reaches(setup, 'red');
    send({ type: 'TICK' });
    send({ type: 'NOBODY', note: 'hello' });
    send({ type: 'GO', allowed: false });
    send({ type: 'GO', allowed: true });
    await reaches(setup, 'amber');
    send({ type: 'END' });
    await reaches(setup, 'off');
    const records = await recordsOf(setup.recording);
    expect(setup.recording.chart('light')?.states.map(({ id }) => id)).toEqual(['', 'amber', 'green', 'off', 'red']);
    const light = records.find((each) => each.k === 'actor' && each.chart === 'light');
    const steps = records.filter(
      (each): each is InspectionRecordOf<'step'> => each.k === 'step' && each.a === light?.a,
    );
    expect(steps.map(({ type, taken, value }) => [type, taken, value])).toEqual([
      ['TICK', ['red|TICK|0'], 'red'],
      ['NOBODY', [], 'red'],
      ['GO', [], 'red'],
      ['GO', ['red|GO|0'], 'green'],
      ['xstate.done.actor.0.light.green', ['green|done(work)|0'], 'amber'],
      ['END', ['amber|END|0'], 'off'],
    ]);
    expect(steps.at(-1)?.status).toBe('done');
    const events = records.filter(
      (each): each is InspectionRecordOf<'event'> => each.k === 'event' && each.a === light?.a,
    );
    expect(steps.map(({ e }) => e)).toEqual(events.map(({ e }) => e));
    expect(events.find(({ type }) => type === 'NOBODY')?.data).toEqual({ note: 'hello' });
    const world = await worldOf(setup.recording);
    const [program] = world.roots();
    expect(world.children(program?.key ?? '').map(({ id, value }) => [id, value])).toEqual([['light', 'off']]);
    expect(world.children(light?.a ?? '').map(({ id, status }) => [id, status])).toEqual([['0.light.green', 'done']]);
    child.stdin?.end();
    await once(child, 'exit');
  });

  it('that is killed in the middle has ended for whoever checks, and its next life is another program', async () => {
    const setup = await receiver();
    const first = start(setup.url);
    await reaches(setup, 'red');
    first.child.kill('SIGKILL');
    await until(setup.recording, () => setup.statistics.programs === 0 || undefined);
    const gone = (await worldOf(setup.recording)).actors();
    expect(gone.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
    expect(gone[0]?.error?.message).toMatch(/broke off/);
    expect(gone[1]?.error?.message).toMatch(/not known/);
    const second = start(setup.url);
    await reaches(setup, 'red', 2);
    expect(setup.statistics.programs).toBe(1);
    expect((await recordsOf(setup.recording)).filter(({ k }) => k === 'machine')).toHaveLength(1);
    second.child.kill('SIGKILL');
  });

  it('shows beside others, whose actors have the same names', async () => {
    const setup = await receiver();
    const both = [start(`${setup.url}/?program=one`), start(`${setup.url}/?program=two`)];
    await Promise.all([reaches(setup, 'red', 1), reaches(setup, 'red', 2)]);
    both[0]?.send({ type: 'GO', allowed: true });
    both[1]?.send({ type: 'GO', allowed: true });
    await Promise.all([reaches(setup, 'amber', 1), reaches(setup, 'amber', 2)]);
    const world = await worldOf(setup.recording);
    expect(
      world
        .roots()
        .map(({ id }) => id.replace(/\d/, 'N'))
        .toSorted(),
    ).toEqual(['one (program N)', 'two (program N)']);
    expect(world.inFlight()).toEqual([]);
  });
});
