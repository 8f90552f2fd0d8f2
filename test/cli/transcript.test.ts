/** What is asked for, told to the person who watches: in a transcript, and line by line. */
import { describe, expect, it } from 'vitest';
import { Progress } from '../../src/cli/terminal/progress.ts';
import { TranscriptView } from '../../src/cli/session/transcript-view.ts';
import { WakeView } from '../../src/cli/wake/view.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { captured } from './captured.ts';

const command = `make build\n${'true\n'.repeat(40)}rm -rf ~/\u200Bproject`;
const asked: SessionEvent = {
  id: '0192f0c1-2345-7abc-8def-0123456789ab',
  seq: 7,
  sessionId: 's1',
  at: '2026-01-01T00:00:00.000Z',
  v: 1,
  epoch: 1,
  type: 'permission.requested',
  data: {
    requestId: 'r1',
    callId: 'c1',
    toolName: 'shell_run',
    input: { command },
    because: 'it\nasks',
    cwd: '/work',
    rules: ['shell_run(make build $)'],
    expiresAt: '2026-01-02T00:00:00.000Z',
  },
};

const BOTH_ENDS = String.raw`│ make build\n(?: +│ true\n)+ +… 22 more lines, not shown; \x60session status\x60 shows them …\n(?: +│ true\n)+ +│ rm -rf ~/\\u\{200B\}project\n +It holds .*\n +in /work\n +because it asks\n +"session" .*\n +shell_run\(make build \$\)\n +until 2026-.*; then the call is denied\n`;

describe('a request for a permission', () => {
  it('shows both ends of what is asked for in a transcript, before the commands that answer it', async () => {
    const { context, text } = captured('/home');
    const view = new TranscriptView({ out: context.out, agentId: 'fixer', commandFor: (...words) => words.join(' ') });
    await view.show(asked);
    expect(text()).toMatch(
      new RegExp(
        String.raw`asks for permission to run shell_run:\n +${BOTH_ENDS} +session confirm-tool --session s1 --request r1 --allow\n +session confirm-tool .* --deny\n$`,
      ),
    );
  });

  it('does so in the lines of a wake that nobody can be asked in', async () => {
    const { context, text } = captured('/home');
    const view = new WakeView({
      out: context.out,
      agentId: 'fixer',
      progress: new Progress(context.err),
      outputLines: 0,
    });
    await view.show(asked);
    expect(text()).toMatch(new RegExp(String.raw`^ {2}asks {4}to run shell_run \(request r1\)\n +${BOTH_ENDS}$`));
  });

  it('is told with its call, whose lines are written out', async () => {
    const { context, text } = captured('/home');
    const view = new WakeView({
      out: context.out,
      agentId: 'fixer',
      progress: new Progress(context.err),
      outputLines: 0,
    });
    const { id, seq, sessionId, at, v } = asked;
    await view.show({
      id,
      seq,
      sessionId,
      at,
      v,
      type: 'agent.tool_use',
      data: { callId: 'c1', name: 'shell_run', input: { command: 'make\nrm -rf x' }, spanId: 's' },
    });
    await view.show({
      id,
      seq,
      sessionId,
      at,
      v,
      type: 'agent.tool_result',
      data: { callId: 'c1', name: 'shell_run', outcome: 'denied', output: 'no' },
    });
    expect(text()).toMatch(/runs {4}make\\nrm -rf x → denied/);
  });
});

describe('work that others do', () => {
  const { id, seq, sessionId, at, v } = asked;
  const envelope = { id, seq, sessionId, at, v } as const;
  const next = `To bring it home: git -C '${'/a long folder'.repeat(12)}' merge wakechart/agent_1-a`;
  const worktree = {
    worktreePath: '/w',
    branchName: 'b',
    worktreeStatus: 'preserved',
    worktreeNextAction: `${next}\nThen remove it: wakechart worktree remove agent_1-a`,
  } as const;
  const job = { jobId: 'agent_1', childSessionId: 'child', agentId: 'scribe' } as const;
  const delegated: readonly SessionEvent[] = [
    {
      ...envelope,
      type: 'agent.tool_use',
      data: { callId: 'c1', name: 'scribe', input: { message: 'Write.' }, spanId: 's' },
    },
    {
      ...envelope,
      type: 'agent.subflow_started',
      data: {
        callId: 'c1',
        childSessionId: 'child',
        agentId: 'scribe',
        message: 'Write.',
        run: 'process',
        isolation: 'worktree',
      },
    },
    {
      ...envelope,
      type: 'agent.tool_result',
      data: { callId: 'c1', name: 'scribe', outcome: 'completed', output: { output: 'Written.', worktree } },
    },
  ];
  const jobs: readonly SessionEvent[] = [
    { ...envelope, type: 'subagent.started', data: { ...job, isolation: 'worktree', prompt: 'Write.' } },
    { ...envelope, type: 'subagent.ended', data: { ...job, status: 'completed', summary: 'Written.', worktree } },
    {
      ...envelope,
      type: 'subagent.ended',
      data: {
        ...job,
        status: 'cancelled',
        summary: 'Somebody changed their mind.',
        worktree: { ...worktree, worktreeStatus: 'removed', worktreeNextAction: 'never' },
      },
    },
  ];
  const shown = async (
    events: readonly SessionEvent[],
  ): Promise<{ readonly transcript: string; readonly lines: string }> => {
    const one = captured('/home');
    const other = captured('/home');
    const transcript = new TranscriptView({ out: one.context.out, agentId: 'fixer' });
    const lines = new WakeView({
      out: other.context.out,
      agentId: 'fixer',
      progress: new Progress(other.context.err),
      outputLines: 0,
    });
    for (const event of events) {
      await transcript.show(event);
      await lines.show(event);
    }
    return { transcript: one.text(), lines: other.text() };
  };

  it('is told with where it is done, and with what to do about it, in one piece', async () => {
    const { transcript, lines } = await shown(delegated);
    expect(transcript).toContain(
      'the agent scribe works on it, in a process and a worktree of its own, in session child',
    );
    expect(lines).toContain('asks    the agent scribe, in a process and a worktree of its own: Write. (session child)');
    for (const text of [transcript, lines]) expect(text.split('\n').map((line) => line.trim())).toContain(next);
  });

  it('is told of jobs when they begin and when they end', async () => {
    const { transcript, lines } = await shown(jobs);
    expect(transcript).toMatch(
      /↳ agent_1 begins: the agent scribe, in a worktree of its own: Write\.[\s\S]*in session child[\s\S]*↳ agent_1 of scribe completed: Written\.[\s\S]*↳ agent_1 of scribe cancelled: Somebody changed their mind\./,
    );
    expect(lines).toMatch(
      /starts {2}agent_1, the agent scribe, in a worktree of its own: Write\. \(session child\)\n {2}hears {3}agent_1 completed: Written\.\n[\s\S]*\n {2}hears {3}agent_1 cancelled: Somebody changed their mind\.\n$/,
    );
    for (const text of [transcript, lines]) {
      expect(text.split('\n').map((line) => line.trim())).toContain(next);
      expect(text).not.toContain('never');
      expect(text).not.toContain('--discard');
    }
  });
});
