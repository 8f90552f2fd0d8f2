/** The tools of Codex: what our log says of each call, its permission and its result. */
import { expect, it } from 'vitest';
import { toolStory } from '../support/backend-house.ts';
import { says, use } from '../support/http-models/conversation.ts';
import { openCodex, patches } from './codex-stage.ts';
import { describeProgram } from './programs.ts';

describeProgram('codex', () => {
  it('answers', async () => {
    await using stage = await openCodex();
    stage.conversation().script(says('Hello.'));
    const id = await stage.session('Say hello.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Hello.', modelSteps: 1 });
    expect(stage.server.request.headers.authorization).toBe('Bearer sk-fixture');
  });

  it('runs a command and a patch that a person has allowed', async () => {
    await using stage = await openCodex();
    stage.conversation().script(use('exec_command', { cmd: 'echo made > made.txt' }), patches('*** Update File: made.txt\n@@\n-made\n+changed'), says('Made.'));
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true });
    await stage.confirm(id, { allowed: true }, 'file_change');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Made.' });
    expect(await stage.file('made.txt')).toBe('changed\n');
    expect(toolStory(await stage.log(id))).toEqual([
      'use command_execution by backend',
      'asked',
      'resolved allowed',
      'started, allowed by person',
      'completed',
      'use file_change by backend',
      'asked',
      'resolved allowed',
      'started, allowed by person',
      'completed',
      'says Made.',
    ]);
  });
});
