/** What Claude Code asks for: once, for the session, for always, too late, and what rules say without a person. */
import { expect, it } from 'vitest';
import { says, use } from '../support/http-models/conversation.ts';
import { openClaude } from './claude-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';
import { callsOf } from './story.ts';

const write = (stage: Stage, name: string) =>
  use('Write', { file_path: `${stage.workspace}/${name}`, content: `${name}\n` });

const ASKED = ['use Write by backend', 'asked', 'resolved allowed', 'started, allowed by person', 'completed'];
const byRule = (kind: string): string[] => ['use Write by backend', `started, allowed by ${kind}`, 'completed'];

/** A second turn of the session, or one of another, in which no person answers. */
async function unasked(stage: Stage, id: string, name: string): Promise<string[]> {
  stage.conversation().script(write(stage, name), says('Done.'));
  const before = callsOf(await stage.log(id)).length;
  await stage.send(id, `Write ${name}.`);
  await stage.wake(id);
  return callsOf(await stage.log(id)).slice(before);
}

describeProgram('claude', () => {
  it.each(['session', 'always'] as const)('is allowed the same again, once it was allowed for %s', async (scope) => {
    await using stage = await openClaude();
    stage.conversation().script(write(stage, 'a.txt'), says('Done.'));
    const id = await stage.session('Write a.txt.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true, scope });
    await waking;
    expect(callsOf(await stage.log(id))).toEqual(ASKED);
    await stage.put('a.txt', '');
    stage.conversation().script(use('Read', { file_path: `${stage.workspace}/a.txt` }));
    const again = await unasked(stage, id, 'a.txt');
    expect(again.slice(-3)).toEqual(byRule('session_rule'));
    expect(await stage.file('a.txt')).toBe('a.txt\n');
  });

  it('is allowed in every session what was allowed for always', async () => {
    await using stage = await openClaude();
    stage.conversation().script(write(stage, 'a.txt'), says('Done.'));
    const first = await stage.session('Write a.txt.');
    const waking = stage.wake(first);
    await stage.confirm(first, { allowed: true, scope: 'always' });
    await waking;
    stage.conversation().script(says('Ready.'));
    const second = await stage.session('Be ready.');
    await stage.wake(second);
    stage.conversation().script(use('Read', { file_path: `${stage.workspace}/a.txt` }));
    expect((await unasked(stage, second, 'a.txt')).slice(-3)).toEqual(byRule('policy'));
  });

  it('is denied by rules and allowed by rules, and asks no person then', async () => {
    await using stage = await openClaude({
      agent: {
        permission: { mode: 'ask', allow: ['write(src/**)'], deny: ['write(secret/**)', 'shell_run(rm -rf src)'] },
      },
    });
    stage
      .conversation()
      .script(
        write(stage, 'src/a.txt'),
        write(stage, 'secret/a.txt'),
        use('Bash', { command: 'rm -rf src', description: 'removes' }),
        says('Done.'),
      );
    const id = await stage.session('Go.');
    await stage.wake(id);
    expect(callsOf(await stage.log(id))).toEqual([
      ...byRule('policy'),
      'use Write by backend',
      'denied',
      'use Bash by backend',
      'denied',
    ]);
    expect(await stage.file('src/a.txt')).toBe('src/a.txt\n');
  });

  it('is denied what is answered too late, and the late answer is refused', async () => {
    await using stage = await openClaude({ agent: { permission: { mode: 'ask', expiresAfterSeconds: 1 } } });
    stage.conversation().script(write(stage, 'a.txt'), says('So not.'));
    const id = await stage.session('Write a.txt.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'So not.' });
    expect(callsOf(await stage.log(id)).at(-1)).toBe('denied');
    await expect(stage.confirmLate(id)).rejects.toMatchObject({ code: 'REQUEST_NOT_PENDING' });
  });

  it('is answered from the command line', async () => {
    await using stage = await openClaude();
    stage.conversation().script(write(stage, 'a.txt'), says('Done.'));
    const id = await stage.session('Write a.txt.');
    const waking = stage.cli('wake', '--session', id);
    const { requestId } = await stage.asked(id);
    const answer = await stage.cli('session', 'confirm-tool', '--session', id, '--request', requestId, '--allow');
    expect([answer.code, answer.stderr]).toEqual([0, '']);
    expect((await waking).code).toBe(0);
    expect(callsOf(await stage.log(id))).toEqual(ASKED);
  });
});
