/** The tools of Claude Code: what our log says of each call, its permission and its result. */
import { expect, it } from 'vitest';
import { toolStory } from '../support/backend-house.ts';
import { says, use } from '../support/http-models/conversation.ts';
import { openClaude } from './claude-stage.ts';
import { describeProgram } from './programs.ts';

describeProgram('claude', () => {
  it('answers, and its turn counts as one step', async () => {
    await using stage = await openClaude();
    stage.conversation().script(says('Hello.'));
    const id = await stage.session('Say hello.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Hello.', modelSteps: 1 });
  });

  it('runs a command that a person has allowed', async () => {
    await using stage = await openClaude();
    stage
      .conversation()
      .script(use('Bash', { command: 'echo made > made.txt', description: 'makes it' }), says('Made.'));
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true });
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Made.' });
    expect(await stage.file('made.txt')).toBe('made\n');
    expect(toolStory(await stage.log(id))).toEqual([
      'use Bash by backend',
      'asked',
      'resolved allowed',
      'started, allowed by person',
      'completed',
      'says Made.',
    ]);
  });
});
