import { describe, expect, it } from 'vitest';
import { gistOf, handedOver } from '../../src/cli/session/event-text.ts';
import type { SessionEvent, SessionEventData } from '../../src/machines/session/session-event.ts';

type Requested = SessionEventData<'permission.requested'>;

const envelope = {
  id: '0192f0c1-2345-7abc-8def-0123456789ab',
  seq: 7,
  sessionId: '0192f0c1-2345-7abc-8def-0123456789ac',
  at: '2026-01-01T00:00:00.000Z',
  v: 1,
  epoch: 1,
} as const;
const requested = (input: Requested['input'], more: Partial<Requested> = {}): SessionEvent => ({
  ...envelope,
  type: 'permission.requested',
  data: { requestId: 'r1', callId: 'c1', toolName: 'shell_run', input, because: 'it asks', ...more },
});

describe('the line of an event that asks for a permission', () => {
  it('writes out where lines end, and what cannot be seen', () => {
    expect(gistOf(requested({ command: 'make build\nrm -rf ~/\u200Bproject' }))).toBe(
      String.raw`shell_run make build\nrm -rf ~/\u{200B}project (request r1)`,
    );
    expect(gistOf(requested({ command: String.raw`printf 'a\nb'` }))).toBe(
      String.raw`shell_run printf 'a\\nb' (request r1)`,
    );
  });

  it('holds all that is asked for, and where it would happen', () => {
    expect(gistOf(requested({ command: 'ls', timeoutMs: 5 }, { cwd: '/work\nhere' }))).toBe(
      String.raw`shell_run ls {"timeoutMs":5} in /work\nhere (request r1)`,
    );
    expect(gistOf(requested({ path: 'a', content: 'one\ntwo' }))).toBe(
      String.raw`shell_run {"path":"a","content":"one\ntwo"} (request r1)`,
    );
    expect(gistOf(requested('rm\n-rf'))).toBe(String.raw`shell_run rm\n-rf (request r1)`);
    expect(gistOf(requested(['a\u202Eb']))).toBe(String.raw`shell_run ["a\u{202E}b"] (request r1)`);
  });

  it('is cut in the middle only, which it says, and never for want of width', () => {
    const command = `echo ${'x'.repeat(2_000)}; rm -rf ~`;
    const gist = gistOf(requested({ command }), 20);
    expect(gist).toMatch(/^shell_run echo x+ … 1615 more characters … x+; rm -rf ~ \(request r1\)$/);
    expect(gistOf(requested({ command: 'echo one two three four five' }), 20)).toBe(
      'shell_run echo one two three four five (request r1)',
    );
  });

  it('is told the same where a tool is called, or somebody outside is to run one', () => {
    const call = { name: 'shell_run', input: { command: 'a\nb' }, callId: 'c1' };
    expect(gistOf({ ...envelope, type: 'agent.tool_use', data: { ...call, spanId: 's' } })).toBe(
      String.raw`shell_run a\nb`,
    );
    expect(gistOf({ ...envelope, type: 'agent.custom_tool_use', data: { ...call, requestId: 'r1' } })).toBe(
      String.raw`shell_run a\nb (request r1)`,
    );
  });
});

describe('the line of an answer', () => {
  it('says how far it reaches', () => {
    const answer = { requestId: 'r1', toolName: 'shell_run', allowed: true } as const;
    expect(gistOf({ ...envelope, type: 'user.tool_confirmation', data: answer })).toBe(
      'shell_run allowed (request r1)',
    );
    expect(gistOf({ ...envelope, type: 'user.tool_confirmation', data: { ...answer, scope: 'always' } })).toBe(
      'shell_run allowed (always) (request r1)',
    );
    expect(
      gistOf({
        ...envelope,
        type: 'permission.resolved',
        data: { requestId: 'r1', callId: 'c1', decision: 'allowed', scope: 'session', rules: ['shell_run(ls $)'] },
      }),
    ).toBe('allowed (session); from then on: shell_run(ls $)');
  });
});

describe('the line of a model step', () => {
  const step = { spanId: 's', kind: 'model_step', backend: 'b', provider: 'p', model: 'm', step: 3 } as const;

  it('says what of the conversation the model is not given', () => {
    const lineOf = (more: Partial<SessionEventData<'span.started'>>): string =>
      gistOf({ ...envelope, type: 'span.started', data: { ...step, ...more } });
    expect(lineOf({})).toBe('step 3, p/m');
    expect(lineOf({ omittedMessages: 0, shortenedMessages: 2 })).toBe('step 3, p/m (messages: 2 shortened)');
    expect(lineOf({ omittedMessages: 12, shortenedMessages: 1 })).toBe(
      'step 3, p/m (messages: 12 left out, 1 shortened)',
    );
  });
});

describe('the lines of a subagent job', () => {
  const job = { jobId: 'agent_1', childSessionId: 'child', agentId: 'scribe' } as const;
  const worktree = { worktreePath: '/w', branchName: 'wakechart/agent_1-a', worktreeStatus: 'preserved' } as const;

  it('say who begins, where, and with what', () => {
    expect(gistOf({ ...envelope, type: 'subagent.started', data: job })).toBe('agent_1 of agent scribe');
    expect(
      gistOf({ ...envelope, type: 'subagent.started', data: { ...job, isolation: 'worktree', prompt: 'Write\nit.' } }),
    ).toBe('agent_1 of agent scribe, in a worktree of its own: Write it.');
  });

  it('say how it ended, and where its work is', () => {
    const ended = (more: Partial<SessionEventData<'subagent.ended'>>): string =>
      gistOf({
        ...envelope,
        type: 'subagent.ended',
        data: { ...job, status: 'completed', summary: 'Written.', ...more },
      });
    expect(ended({})).toBe('agent_1 of agent scribe completed: Written.');
    expect(ended({ worktree })).toBe(
      `agent_1 of agent scribe completed: Written. (its work is in ${worktree.worktreePath}, branch wakechart/agent_1-a)`,
    );
    expect(ended({ worktree: { ...worktree, worktreeStatus: 'removed' } })).toBe(
      'agent_1 of agent scribe completed: Written.',
    );
    expect(
      ended({ status: 'failed', summary: 'No.', error: { code: 'X', category: 'crash', message: 'It died.' } }),
    ).toBe('agent_1 of agent scribe failed: It died.');
  });

  it('say so too of an agent that answers a call, and of the session itself', () => {
    const started = { callId: 'c1', childSessionId: 'child', agentId: 'scribe', message: 'Write.' };
    expect(gistOf({ ...envelope, type: 'agent.subflow_started', data: started })).toBe('scribe in child: Write.');
    expect(
      gistOf({
        ...envelope,
        type: 'agent.subflow_started',
        data: { ...started, run: 'process', isolation: 'worktree' },
      }),
    ).toBe('scribe in child, in a process and a worktree of its own: Write.');
    expect(
      gistOf({ ...envelope, type: 'session.created', data: { agentId: 'scribe', workspace: '/w', runsIn: 'process' } }),
    ).toBe('agent scribe, in /w, in a process of its own');
  });
});

describe('what another agent left in a worktree', () => {
  const worktree = {
    worktreePath: '/w',
    branchName: 'b',
    worktreeStatus: 'preserved',
    worktreeNextAction: 'git merge b',
  };

  it('is read off the result of its call', () => {
    expect(handedOver({ output: 'Done.', worktree })).toEqual(worktree);
  });

  it.each([
    undefined,
    'text',
    {},
    { worktree: 'w' },
    { worktree: { ...worktree, worktreeStatus: 'removed' } },
    { worktree: { problem: 'x' } },
  ])('is nothing in %j', (output) => {
    expect(handedOver(output)).toBeUndefined();
  });
});
