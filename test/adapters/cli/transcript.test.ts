/** What is asked for, told to whoever looks on: in a transcript, and line by line. */
import { describe, expect, it } from 'vitest';
import { Progress } from '../../../src/adapters/cli/progress.ts';
import { TranscriptView } from '../../../src/adapters/cli/transcript-view.ts';
import { WakeView } from '../../../src/adapters/cli/wake-view.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
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
  data: { requestId: 'r1', callId: 'c1', toolName: 'shell_run', input: { command }, because: 'it\nasks', cwd: '/work', rules: ['shell_run(make build $)'], expiresAt: '2026-01-02T00:00:00.000Z' },
};

const BOTH_ENDS = String.raw`│ make build\n(?: +│ true\n)+ +… 22 more lines, not shown; \x60session status\x60 shows them …\n(?: +│ true\n)+ +│ rm -rf ~/\\u\{200B\}project\n +It holds .*\n +in /work\n +because it asks\n +"session" .*\n +shell_run\(make build \$\)\n +until 2026-.*; then the call is denied\n`;

describe('a request for a permission', () => {
  it('shows both ends of what is asked for in a transcript, before the commands that answer it', async () => {
    const { context, text } = captured('/home');
    const view = new TranscriptView({ out: context.out, agentId: 'fixer', commandFor: (...words) => words.join(' ') });
    await view.show(asked);
    expect(text()).toMatch(new RegExp(String.raw`asks for permission to run shell_run:\n +${BOTH_ENDS} +session confirm-tool --session s1 --request r1 --allow\n +session confirm-tool .* --deny\n$`));
  });

  it('does so in the lines of a wake that nobody can be asked in', async () => {
    const { context, text } = captured('/home');
    const view = new WakeView({ out: context.out, agentId: 'fixer', progress: new Progress(context.err), outputLines: 0 });
    await view.show(asked);
    expect(text()).toMatch(new RegExp(String.raw`^ {2}asks {4}to run shell_run \(request r1\)\n +${BOTH_ENDS}$`));
  });

  it('is told with its call, whose lines are written out', async () => {
    const { context, text } = captured('/home');
    const view = new WakeView({ out: context.out, agentId: 'fixer', progress: new Progress(context.err), outputLines: 0 });
    const { id, seq, sessionId, at, v } = asked;
    await view.show({ id, seq, sessionId, at, v, type: 'agent.tool_use', data: { callId: 'c1', name: 'shell_run', input: { command: 'make\nrm -rf x' }, spanId: 's' } });
    await view.show({ id, seq, sessionId, at, v, type: 'agent.tool_result', data: { callId: 'c1', name: 'shell_run', outcome: 'denied', output: 'no' } });
    expect(text()).toMatch(/runs {4}make\\nrm -rf x → denied/);
  });
});
