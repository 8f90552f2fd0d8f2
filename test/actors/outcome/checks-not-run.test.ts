/** Checks that could not be run: they say nothing of the work, so they are run again, and not for ever. */
import { afterEach, describe, expect, it } from 'vitest';
import type { CheckRunner } from '../../../src/actors/outcome/check-runner.ts';
import type { CheckEnding } from '../../../src/machines/outcome/outcome-verdict.ts';
import { TOOLS, openOutcomeSetup } from './outcome-setup.ts';
import type { OutcomeSetup } from './outcome-setup.ts';

let open: OutcomeSetup | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

const NOT_RUN: CheckEnding['ended'] = { kind: 'not_run', because: 'the disk is full' };

interface Scene {
  /** Another wake in which nothing is changed. @returns the verdict that stands after it */
  wake(): Promise<string | undefined>;
  change(): Promise<string | undefined>;
  readonly runs: { count: number };
}

/** A session with an outcome whose check ends as `endings` say, one after the other. */
async function scene(endings: readonly CheckEnding['ended'][]): Promise<Scene> {
  const runs = { count: 0 };
  const checks: CheckRunner = { run: async () => endings[runs.count++] ?? NOT_RUN };
  open = await openOutcomeSetup({}, { checks });
  const { setup } = open;
  await setup.agent(
    'worker',
    ({ messages }) =>
      messages?.at(-1)?.role !== 'tool' && JSON.stringify(messages?.at(-1)).includes('Change.')
        ? { calls: [{ name: 'shell_run', input: { command: 'touch it' } }] }
        : { text: 'Done.' },
    TOOLS,
  );
  const id = await setup.start('worker');
  await setup.runtime.sessions.send(id, {
    type: 'user.define_outcome',
    title: 'It works.',
    check: { command: 'true' },
  });
  const say = async (text: string): Promise<string | undefined> => {
    await setup.runtime.sessions.send(id, { type: 'user.message', text });
    await setup.runtime.wake(id);
    return (await setup.state(id)).evaluation?.verdict;
  };
  return { runs, wake: () => say('Anything new?'), change: () => say('Change.') };
}

describe('a check that could not be run', () => {
  it('is run again when the session wakes the next time, and says then what it says', async () => {
    const { change, wake, runs } = await scene([NOT_RUN, { kind: 'exited', exitCode: 0 }]);
    expect(await change()).toBe('uncertain');
    expect(await wake()).toBe('pass');
    expect(await wake()).toBe('pass');
    expect(runs.count).toBe(2);
  });

  it('is not run again after the third time, until something is changed', async () => {
    const { change, wake, runs } = await scene([]);
    expect(await change()).toBe('uncertain');
    for (let time = 0; time < 4; time += 1) expect(await wake()).toBe('uncertain');
    expect(runs.count).toBe(3);
    expect(await change()).toBe('uncertain');
    expect(runs.count).toBe(4);
  });

  it('is not run again when it was run and failed', async () => {
    const { change, wake, runs } = await scene([{ kind: 'exited', exitCode: 1 }]);
    expect(await change()).toBe('fail');
    expect(await wake()).toBe('fail');
    expect(runs.count).toBe(1);
  });
});
