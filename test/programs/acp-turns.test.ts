/** Turns of agents that speak ACP, one after another and at once: taken up, steered, interrupted, killed, bounded. */
import { describe, expect, it } from 'vitest';
import { says, use } from '../support/http-models/conversation.ts';
import { ACP_KINDS, ACP_PROGRAMS, openAcp, played, told } from './acp-stage.ts';
import type { AcpProgram } from './acp-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';
import { callsOf } from './story.ts';

/** Claude Agent runs no command that only sleeps. */
const LONG = 'touch begun; tail -f /dev/null';

const hasBegun = (stage: Stage): Promise<boolean> =>
  stage.file('begun').then(
    () => true,
    () => false,
  );

async function begun(stage: Stage): Promise<void> {
  await expect.poll(() => hasBegun(stage)).toBe(true);
}

/** Its process, and not what it has started. */
const PROGRAM_PROCESS: Readonly<Record<AcpProgram, RegExp>> = {
  opencode: /opencode acp$/,
  gemini: /gemini --acp$/,
  'claude-agent-acp': /claude-agent-acp$/,
};

describe.each(ACP_PROGRAMS)('%s', (program) => {
  const { command } = ACP_KINDS[program];
  const run = (line: string): ReturnType<typeof use> => use(...command(line));
  const name = program === 'claude-agent-acp' ? 'Bash' : 'execute';

  describeProgram(program, () => {
    it('reads in the next turn, which goes on with its session, what it was to be steered with', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program).script(run('touch begun; until test -e go; do :; done'), says('One.'), says('Two.'));
      const id = await stage.session('First.');
      const waking = stage.wake(id);
      await begun(stage);
      expect(await stage.send(id, 'Left!', 'steer')).toMatchObject({ acceptedAs: 'queue', readBy: 'next_turn' });
      await stage.put('go', '');
      expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Two.', modelSteps: 2 });
      // Gemini CLI takes up no session in the minute in which that has begun.
      const bound = (await stage.log(id)).flatMap(({ type, data }) =>
        type === 'backend.session_bound' ? [data.generation] : [],
      );
      expect(bound[0]).toBe(1);
      if (program !== 'gemini') expect(bound).toEqual([1, 1]);
    });

    it('is interrupted, leaves nothing running, and hears the next message', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program).script(run(LONG)).always(says('Here I am.'));
      const id = await stage.session('Work.');
      const waking = stage.wake(id);
      await begun(stage);
      await stage.send(id, 'Stop.', 'interrupt');
      expect(await waking).toMatchObject({ outcome: 'interrupted' });
      expect(stage.processes()).toEqual([]);
      expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Here I am.' });
      expect(played(stage, program).requestWith('Stop.')).toBeDefined();
    });

    it('that is killed takes all that it has started with it, and its call ends as unknown', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program).script(run(LONG)).always(says('Here I am.'));
      const id = await stage.session('Work.');
      const waking = stage.wake(id);
      await begun(stage);
      for (const { pid, command: line } of stage.processes())
        if (PROGRAM_PROCESS[program].test(line)) process.kill(pid, 'SIGKILL');
      expect(await waking).toMatchObject({ outcome: 'failed' });
      expect(stage.processes()).toEqual([]);
      expect((await told(stage, id)).slice(0, 4)).toEqual([
        'told: Work.',
        `use ${name} by backend`,
        'started, allowed by preapproved',
        `${name} unknown: The program that ran this has ended without telling how it e…`,
      ]);
      await stage.cli('auth', 'reset', '--all');
      await stage.send(id, 'Again.');
      expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Here I am.' });
    });

    it('of a process of ours that is killed is ended by the next, and its call not run again', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program).script(run(LONG)).always(says('Here I am.'));
      const id = await stage.session('Work.');
      const waking = stage.startCli('wake', '--session', id);
      await begun(stage);
      waking.process.kill('SIGKILL');
      await waking.ended;
      const ended = await stage.cli('wake', '--session', id);
      expect(ended.code).toBe(0);
      expect(stage.processes()).toEqual([]);
      expect(callsOf(await stage.log(id))).toEqual([
        `use ${name} by backend`,
        'started, allowed by preapproved',
        'unknown',
      ]);
    });

    it('runs two turns at once, and ends at a budget of tokens', async () => {
      await using stage = await openAcp(program, { agent: { budget: { maxTokensPerSession: 30_000 } } });
      played(stage, program).always(says('Here I am.', { usage: { input: 40_000, output: 10 } }));
      const ids = [await stage.session('One.'), await stage.session('Two.')];
      const wakes = await Promise.all(ids.map((id) => stage.wake(id)));
      expect(wakes.map(({ outcome, summary }) => [outcome, summary])).toEqual([
        ['sleep', 'Here I am.'],
        ['sleep', 'Here I am.'],
      ]);
      const [id = ''] = ids;
      await stage.send(id, 'And on.');
      expect(await stage.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    });
  });
});
