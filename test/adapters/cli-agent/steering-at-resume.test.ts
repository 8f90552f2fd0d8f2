/** A message for a turn whose program has not taken up its session yet: it may have to begin anew without it. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { cliSetup, textOf } from './cli-setup.ts';
import type { CliSetup, Family } from './cli-setup.ts';
import type { StartedRun } from '../../support/program-setup.ts';

let setup: CliSetup;
afterEach(() => setup.close());

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
const assistant = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] }) as const;

interface Resumption {
  readonly run: StartedRun;
  readonly sessionId: string;
  /** The program finds its session, or does not. */
  release(): Promise<void>;
  steer(text: string): Promise<boolean | undefined>;
}

/** A session with one turn, and a second turn whose program is held before it has found the session. */
async function resumption(family: Family, model: string): Promise<Resumption> {
  const sessionId = (await setup.run({ prompt: 'one' })).meta?.sessionId ?? '';
  const hold = join(setup.directory, 'found');
  const settings = setup.settings();
  const set = { ...settings.program?.set, FIXTURE_HOLD: hold };
  const started = setup.notes().length;
  const run = setup.start({
    model,
    config: { providers: { agent: { ...settings, program: { command: '', ...settings.program, set } } } },
    messages: [user('one'), assistant('Hello.'), user('two')],
    resume: { sessionId, generation: 1, newMessages: [user('two')] },
  });
  await expect
    .poll(() =>
      setup
        .notes()
        .slice(started)
        .some(({ args }) => args !== undefined),
    )
    .toBe(true);
  return {
    run,
    sessionId,
    release: () => writeFile(hold, family),
    // The first run was `run_1`.
    steer: async (text) => setup.runtime.queueMessage?.('run_2', text),
  };
}

describe.each<Family>(['claude', 'codex'])('a turn of %s that goes on with a session', (family) => {
  it('takes no message before the session is found, so that it is read in the next turn where the session is gone', async () => {
    setup = await cliSetup(family);
    const { run, sessionId, steer, release } = await resumption(family, await setup.scenario({ say: 'Anew.' }));
    await rm(join(setup.directory, `${family}-sessions`, sessionId));
    expect(await steer('And this.')).toBe(false);
    await release();
    const result = await run.result;
    expect([textOf(result), result.meta?.error]).toEqual(['Anew.', undefined]);
    expect(result.meta?.reseeded).toContain(sessionId);
    // No program was given it: neither the one that found nothing, nor the new one.
    expect(JSON.stringify(setup.notes())).not.toContain('And this.');
  });

  it('takes none before, and reads the one that comes after', async () => {
    setup = await cliSetup(family);
    const model = await setup.scenario({ say: 'Here. ' }, { awaitMessage: true });
    const { run, sessionId, steer, release } = await resumption(family, model);
    expect(await steer('Too early.')).toBe(false);
    await release();
    await run.until(({ stream }) => stream === 'assistant');
    expect(await steer('And this.')).toBe(true);
    const result = await run.result;
    expect(textOf(result)).toContain('And this.');
    expect(textOf(result)).not.toContain('Too early.');
    expect(result.meta).toMatchObject({ sessionId });
  });
});
