/** What Codex asks for, and what comes of the answers. */
import { expect, it } from 'vitest';
import { says, use } from '../support/http-models/conversation.ts';
import { openCodex, patches } from './codex-stage.ts';
import { describeProgram } from './programs.ts';
import { callsOf } from './story.ts';

describeProgram('codex', () => {
  it('runs a command and a patch that a person has allowed', async () => {
    await using stage = await openCodex();
    stage
      .conversation()
      .script(
        use('exec_command', { cmd: 'echo made > made.txt' }),
        patches('*** Update File: made.txt\n@@\n-made\n+changed'),
        says('Made.'),
      );
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true });
    await stage.confirm(id, { allowed: true }, 'file_change');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Made.' });
    expect(await stage.file('made.txt')).toBe('changed\n');
    const allowed = ['asked', 'resolved allowed', 'started, allowed by person', 'completed'];
    expect(callsOf(await stage.log(id))).toEqual([
      'use command_execution by backend',
      ...allowed,
      'use file_change by backend',
      ...allowed,
    ]);
  });

  it('is told why something was denied', async () => {
    await using stage = await openCodex();
    const conversation = stage
      .conversation()
      .script(use('exec_command', { cmd: 'touch made.txt' }), patches('*** Add File: made.txt\n+x'), says('So not.'));
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: false, note: 'Not on a Sunday.' });
    await stage.confirm(id, { allowed: false }, 'file_change');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'So not.' });
    const denied = ['asked', 'resolved denied', 'denied'];
    expect(callsOf(await stage.log(id))).toEqual([
      'use command_execution by backend',
      ...denied,
      'use file_change by backend',
      ...denied,
    ]);
    expect(conversation.requestWith('Not on a Sunday.')).toBeDefined();
    await expect(stage.file('made.txt')).rejects.toThrow('ENOENT');
  });

  it('is denied what is answered too late, and the late answer is refused', async () => {
    await using stage = await openCodex({ agent: { permission: { mode: 'ask', expiresAfterSeconds: 1 } } });
    stage.conversation().script(use('exec_command', { cmd: 'touch made.txt' }), says('So not.'));
    const id = await stage.session('Make it.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'So not.' });
    expect(callsOf(await stage.log(id)).at(-1)).toBe('denied');
    await expect(stage.confirmLate(id)).rejects.toMatchObject({ code: 'REQUEST_NOT_PENDING' });
    await expect(stage.file('made.txt')).rejects.toThrow('ENOENT');
  });

  it('asks once for what is allowed for the session, and not for what a rule allows', async () => {
    await using stage = await openCodex({
      agent: { permission: { mode: 'ask', allow: ['shell_run(npm test)', 'write(made.txt)'] } },
    });
    const again = { cmd: 'touch made-again.txt' };
    stage
      .conversation()
      .script(
        use('exec_command', { cmd: 'npm test' }),
        patches('*** Add File: made.txt\n+x'),
        use('exec_command', again),
        use('exec_command', again),
        says('Made.'),
      );
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true, scope: 'session' });
    await waking;
    const calls = callsOf(await stage.log(id));
    expect(calls.filter((line) => line === 'asked')).toHaveLength(1);
    expect(calls.filter((line) => line.startsWith('started'))).toEqual([
      'started, allowed by policy',
      'started, allowed by policy',
      'started, allowed by person',
      'started, allowed by session_rule',
    ]);
  });

  it('does not do what a rule denies, and asks for what leads out of the workspace or of its sandbox', async () => {
    await using stage = await openCodex({
      agent: { permission: { mode: 'preapproved', deny: ['shell_run(touch made.txt)'] } },
    });
    stage
      .conversation()
      .script(
        use('exec_command', { cmd: 'touch made.txt' }),
        use('exec_command', { cmd: 'ls' }),
        patches('*** Add File: ../outside.txt\n+x'),
        use('exec_command', { cmd: 'ls', sandbox_permissions: 'require_escalated', justification: 'I want to.' }),
        says('So not.'),
      );
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: false }, 'file_change');
    await stage.confirm(id, { allowed: false }, 'command_execution');
    await waking;
    expect(callsOf(await stage.log(id)).filter((line) => !line.startsWith('use'))).toEqual([
      'denied',
      'started, allowed by safe_command',
      'completed',
      'asked',
      'resolved denied',
      'denied',
      'asked',
      'resolved denied',
      'denied',
    ]);
  });

  it('is not run for an agent that is bound, where its settings say that it asks no person', async () => {
    await using stage = await openCodex({ options: { 'ask-for-approval': 'never' } });
    const id = await stage.session('Make it.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'failed', error: { code: 'BACKEND_NEVER_ASKS' } });
  });
});
