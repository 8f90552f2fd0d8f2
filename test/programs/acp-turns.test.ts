/** Turns of agents that speak ACP, one after another and at once: taken up, steered, interrupted, killed, bounded. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { says, uses } from '../support/http-models/conversation.ts';
import { ACP_KINDS, ACP_PROGRAMS, openAcp, played, told } from './acp-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';
import { callsOf } from './story.ts';

/** Claude Agent runs no command that only sleeps. */
const LONG = 'touch begun; tail -f /dev/null';

const begun = (stage: Stage): Promise<void> =>
  expect
    .poll(() =>
      stage.file('begun').then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);

describe.each(ACP_PROGRAMS)('%s', (program) => {
  const { command } = ACP_KINDS[program];

  describeProgram(program, () => {
    it('goes on with its session in the next turn, and counts the tokens of each', async () => {
      await using stage = await openAcp(program);
      played(stage, program).script(says('One.'), says('Two.'), says('Three.'));
      const id = await stage.session('First.');
      await stage.wake(id);
      for (const word of ['Second.', 'Third.']) {
        await stage.send(id, word);
        await stage.wake(id);
      }
      expect(await told(stage, id)).toEqual([
        'told: First.',
        'says One.',
        'session 1',
        'wake: sleep',
        'told: Second.',
        'says Two.',
        'wake: sleep',
        'told: Third.',
        'says Three.',
        'wake: sleep',
      ]);
      const usage = (await stage.log(id)).flatMap(({ type, data }) => (type === 'span.completed' ? [data] : []));
      console.log(program, JSON.stringify(usage), [...new Set((await stage.log(id)).map((e) => e.type))].join(' '));
    });

    it('reads in the next turn what it was to be steered with', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program).script(
        uses([command('touch begun; until test -e go; do :; done')]),
        says('One.'),
        says('Two.'),
      );
      const id = await stage.session('First.');
      const waking = stage.wake(id);
      await begun(stage);
      expect(await stage.send(id, 'Left!', 'steer')).toMatchObject({ acceptedAs: 'queue', readBy: 'next_turn' });
      await stage.put('go', '');
      console.log(await waking);
      console.log(program, await told(stage, id));
    });

    it('is interrupted', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program)
        .script(uses([command(LONG)]))
        .always(says('Here I am.'));
      const id = await stage.session('Work.');
      const waking = stage.wake(id);
      await begun(stage);
      await stage.send(id, 'Stop.', 'interrupt');
      console.log(await waking, stage.processes());
      await stage.wake(id);
      console.log(program, await told(stage, id));
    });

    it('is killed', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program)
        .script(uses([command(LONG)]))
        .always(says('Here I am.'));
      const id = await stage.session('Work.');
      const waking = stage.wake(id);
      await begun(stage);
      const all = stage.processes();
      console.log(JSON.stringify(all));
      for (const each of all)
        if (/opencode|gemini|claude-agent-acp/.test(JSON.stringify(each))) process.kill(each.pid, 'SIGKILL');
      console.log(await waking, stage.processes());
      await stage.send(id, 'Again.');
      await stage.wake(id);
      console.log(program, await told(stage, id), callsOf(await stage.log(id)).length);
      await pause(1);
    });
  });
});
