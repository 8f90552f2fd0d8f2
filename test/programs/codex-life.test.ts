/** Turns of Codex that are steered, interrupted, killed and taken up again, or that meet a limit. */
import { expect, it } from 'vitest';
import { says, use } from '../support/http-models/conversation.ts';
import { openCodex } from './codex-stage.ts';
import { describeLife } from './life-suite.ts';
import { describeProgram } from './programs.ts';

describeProgram('codex', () => {
  describeLife({
    open: openCodex,
    mark: 'app-server',
    command: (cmd) => use('exec_command', { cmd, yield_time_ms: 30_000 }),
    called: 'command_execution',
    cutShort: 'The run was stopped.',
    sessions: '.codex/sessions',
    resultMark: 'function_call_output',
  });

  it('counts what its turn has used, and begins no other where the budget is spent', async () => {
    const usage = { input: 100_000, output: 1_000 };
    await using stage = await openCodex({
      agent: { permission: { mode: 'preapproved' }, budget: { maxCostPerSession: 1 } },
      runtime: { prices: { 'program/*': { input: 12, output: 60 } } },
    });
    stage.conversation().script(use('exec_command', { cmd: 'ls' }, { usage }), says('Spent.', { usage }));
    const id = await stage.session('Spend.');
    await stage.wake(id);
    const [end] = (await stage.log(id)).flatMap((event) => (event.type === 'span.completed' ? [event.data] : []));
    expect(end?.usage).toMatchObject({ inputTokens: 200_000, outputTokens: 2_000 });
    expect(end?.usage?.cost).toBeCloseTo(2.52);
    await stage.send(id, 'And more.');
    expect(await stage.wake(id)).toMatchObject({ modelSteps: 0 });
    expect(stage.conversation().requests).toHaveLength(2);
  });
});
