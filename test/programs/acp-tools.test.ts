/** The tools of agents that speak ACP: what our log says of each call, its permission and its result. */
import { describe, expect, it } from 'vitest';
import { says, uses } from '../support/http-models/conversation.ts';
import type { RecordedRequest } from '../support/http-models/model-server.ts';
import { ACP_KINDS, ACP_PROGRAMS, openAcp, played, told } from './acp-stage.ts';
import type { AcpProgram } from './acp-stage.ts';
import { describeProgram } from './programs.ts';
import { callsOf } from './story.ts';

const WRITTEN_BY_US = ['use fs/write_text_file by backend', 'started'];
const ALLOWED = 'started, allowed by preapproved';

/** What our log says of a turn with each tool. */
const STORIES: Readonly<Record<AcpProgram, readonly string[]>> = {
  opencode: [
    'use execute by backend',
    ALLOWED,
    'execute completed: made',
    'use read by backend',
    'started',
    'read completed: alpha',
    'use edit by backend',
    ALLOWED,
    ...WRITTEN_BY_US,
    'fs/write_text_file completed: 4 characters were written.',
    'edit completed: Wrote file successfully.',
    'use edit by backend',
    ALLOWED,
    ...WRITTEN_BY_US,
    'fs/write_text_file completed: 12 characters were written.',
    'edit completed: Edit applied successfully.',
    // How a command ended it does not tell.
    'use execute by backend',
    ALLOWED,
    'execute completed: (no output)',
  ],
  // What its commands print and its files hold it keeps for itself.
  gemini: [
    'use execute by backend',
    ALLOWED,
    'execute completed: ',
    'use read by backend',
    'started',
    'read completed: ',
    'use edit by backend',
    ALLOWED,
    ...WRITTEN_BY_US,
    'fs/write_text_file completed: 4 characters were written.',
    'edit completed: [It changed …',
    'use edit by backend',
    ALLOWED,
    ...WRITTEN_BY_US,
    'fs/write_text_file completed: 12 characters were written.',
    'edit completed: [It changed …',
    'use execute by backend',
    ALLOWED,
    'execute completed: ',
  ],
  'claude-agent-acp': [
    'use Bash by backend',
    ALLOWED,
    'Bash completed: ```console',
    'use Read by backend',
    'started',
    'Read completed: ```',
    'use Write by backend',
    ALLOWED,
    'Write completed: File created successfully at: …',
    'use Edit by backend',
    ALLOWED,
    'Edit completed: The file …',
    'use Bash by backend',
    ALLOWED,
    'Bash failed: ```',
  ],
};

const isOfSubagent = ({ text }: RecordedRequest): boolean => text.includes('Subtask.') && !text.includes('Main work.');

describe.each(ACP_PROGRAMS)('%s', (program) => {
  const { command, read, write, edit, subagent } = ACP_KINDS[program];

  describeProgram(program, () => {
    it('tells of commands and of files that it reads, writes and edits', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      await stage.put('old.txt', 'alpha\nbeta\n');
      const at = (name: string): string => `${stage.workspace}/${name}`;
      played(stage, program).script(
        uses([command('echo made > made.txt; cat made.txt')], { text: 'I work.' }),
        uses([read(at('old.txt'))]),
        uses([write(at('new.txt'), 'new\n')]),
        uses([edit(at('old.txt'), 'beta', 'gamma')]),
        uses([command('exit 3')]),
        says('All is done.'),
      );
      const id = await stage.session('Work.');
      expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'All is done.' });
      expect(await Promise.all(['made.txt', 'new.txt', 'old.txt'].map((name) => stage.file(name)))).toEqual([
        'made\n',
        'new\n',
        'alpha\ngamma\n',
      ]);
      expect(await told(stage, id)).toEqual([
        'told: Work.',
        'says I work.',
        ...STORIES[program],
        'says All is done.',
        'session 1',
        'wake: sleep',
      ]);
    });

    it('asks for a command and for a file, each once', async () => {
      await using stage = await openAcp(program);
      const path = `${stage.workspace}/new.txt`;
      played(stage, program).script(uses([command('touch made.txt')]), uses([write(path, 'new\n')]), says('Made.'));
      const id = await stage.session('Make it.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: true });
      await stage.confirm(id, { allowed: true });
      await waking;
      expect(await stage.file('new.txt')).toBe('new\n');
      const calls = callsOf(await stage.log(id)).filter((line) => !WRITTEN_BY_US.includes(line));
      const each = ['asked', 'resolved allowed', 'started, allowed by person', 'completed'];
      const names = program === 'claude-agent-acp' ? ['Bash', 'Write'] : ['execute', 'edit'];
      expect(calls.filter((line, index) => line !== 'completed' || calls[index - 1] !== 'completed')).toEqual(
        names.flatMap((name) => [`use ${name} by backend`, ...each]),
      );
    });

    it('does not do what is allowed too late', async () => {
      const permission = { mode: 'ask', expiresAfterSeconds: 1 } as const;
      await using stage = await openAcp(program, { agent: { permission } });
      played(stage, program)
        .script(uses([command('touch made.txt')]))
        .always(says('So not.'));
      const id = await stage.session('Make it.');
      await stage.wake(id);
      expect(callsOf(await stage.log(id)).at(-1)).toBe('denied');
      await expect(stage.confirmLate(id)).rejects.toMatchObject({ code: 'REQUEST_NOT_PENDING' });
      await expect(stage.file('made.txt')).rejects.toThrow('ENOENT');
    });

    it('does not do what is denied, and its model is not told the note', async () => {
      await using stage = await openAcp(program);
      played(stage, program)
        .script(uses([command('touch made.txt')]))
        .always(says('So be it.'));
      const id = await stage.session('Make it.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: false, note: 'Not today.' });
      await waking;
      await expect(stage.file('made.txt')).rejects.toThrow('ENOENT');
      const name = program === 'claude-agent-acp' ? 'Bash' : 'execute';
      expect(await told(stage, id)).toEqual([
        'told: Make it.',
        `use ${name} by backend`,
        'asked',
        'resolved denied',
        `${name} denied: The call was denied. Not today.`,
        // OpenCode ends the turn with that.
        ...(program === 'opencode' ? [] : ['says So be it.']),
        'session 1',
        'wake: sleep',
      ]);
      expect(played(stage, program).requestWith('Not today.')).toBeUndefined();
    });

    it.skipIf(program !== 'claude-agent-acp')('tells of what its subagent does', async () => {
      await using stage = await openAcp(program, { agent: { permission: 'preapproved' } });
      played(stage, program)
        .script(
          uses([subagent('Subtask.')]),
          { when: isOfSubagent, answer: uses([command('echo sub > sub.txt')]) },
          { when: isOfSubagent, answer: says('Helped.') },
        )
        .always(says('All is done.'));
      const id = await stage.session('Main work.');
      await stage.wake(id);
      expect(await stage.file('sub.txt')).toBe('sub\n');
      expect(callsOf(await stage.log(id))).toEqual([
        'use Agent by backend',
        'started',
        'completed',
        'use Bash by backend',
        ALLOWED,
        'completed',
      ]);
    });
  });
});

describeProgram('opencode', () => {
  const { command, todo, subagent } = ACP_KINDS.opencode;

  it('is asked no more about a command that was allowed for the session, or by a rule', async () => {
    await using stage = await openAcp('opencode', {
      agent: { permission: { mode: 'ask', allow: ['shell_run(mkdir made)'] } },
    });
    // Each call has an id of its own.
    const touch = () => uses([command('touch made.txt')]);
    played(stage, 'opencode').script(touch(), uses([command('mkdir made')]), touch(), says('Made.'));
    const id = await stage.session('Make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true, scope: 'session' });
    await waking;
    const calls = callsOf(await stage.log(id)).filter((line) => line.startsWith('started'));
    expect(calls).toEqual([
      'started, allowed by person',
      'started, allowed by policy',
      'started, allowed by session_rule',
    ]);
  });

  it('tells of its list of things to do', async () => {
    await using stage = await openAcp('opencode');
    played(stage, 'opencode').script(uses([todo('Look')]), says('Noted.'));
    const id = await stage.session('Plan it.');
    await stage.wake(id);
    expect(callsOf(await stage.log(id))).toEqual(['use todowrite by backend', 'started', 'completed']);
  });

  it('waits for ever where its subagent would have to ask, until it is interrupted', async () => {
    await using stage = await openAcp('opencode', { agent: { permission: 'preapproved' } });
    played(stage, 'opencode')
      .script(uses([subagent('Subtask.')]), { when: isOfSubagent, answer: uses([command('touch sub.txt')]) })
      .always(says('Stopped.'));
    const id = await stage.session('Main work.');
    const waking = stage.wake(id);
    await expect.poll(() => played(stage, 'opencode').left).toBe(0);
    await stage.send(id, 'Stop.', 'interrupt');
    expect(await waking).toMatchObject({ outcome: 'interrupted' });
    await expect(stage.file('sub.txt')).rejects.toThrow('ENOENT');
  });
});
