/** Turns of Claude Code that are steered, interrupted, killed and taken up again, or that meet a limit. */
import { expect, it } from 'vitest';
import { failsWithError } from '../support/http-models/behaviors.ts';
import { says, use } from '../support/http-models/conversation.ts';
import { openClaude } from './claude-stage.ts';
import { describeLife } from './life-suite.ts';
import { describeProgram } from './programs.ts';
import { callsOf, storyOf } from './story.ts';

describeProgram('claude', () => {
  describeLife({
    open: openClaude,
    mark: '--input-format=stream-json',
    command: (command) => use('Bash', { command, description: 'works' }),
    called: 'Bash',
    cutShort: "The user doesn't want to proceed with this tool use. The too…",
    sessions: '.claude/projects',
    resultMark: 'tool_result',
  });

  it('makes room by itself when its context is full, and goes on', async () => {
    await using stage = await openClaude();
    const full = failsWithError(400, {
      type: 'invalid_request_error',
      message: 'prompt is too long: 250000 tokens > 200000 maximum',
    });
    stage.conversation().script(says('One.'), says('Two.'), full).always(says('Three.'));
    const id = await stage.session('Count, please.');
    await stage.wake(id);
    await stage.send(id, 'Go on.');
    await stage.wake(id);
    await stage.send(id, 'Go on again.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Three.' });
    // It summarizes for itself what was said, and the last message stays whole.
    expect(stage.conversation().requests.at(-1)?.text).toContain('Go on again.');
    expect(stage.conversation().requests.at(-1)?.text).not.toContain('Count, please.');
    expect(storyOf(await stage.log(id)).filter((line) => line.startsWith('says'))).toEqual([
      'says One.',
      'says Two.',
      'says Three.',
    ]);
  });

  it('ends its turn when the budget of the agent is spent in the middle of it', async () => {
    const usage = { input: 400_000, output: 1_000 };
    await using stage = await openClaude({
      agent: { budget: { maxCostPerWake: 1 } },
      runtime: { prices: { 'program/*': { input: 3, output: 15 } } },
    });
    stage
      .conversation()
      .script(use('Bash', { command: 'ls', description: 'lists' }, { usage }))
      .always(says('More.', { usage }));
    const id = await stage.session('Spend.');
    await stage.wake(id);
    const log = await stage.log(id);
    const [end] = log.flatMap((event) => (event.type === 'span.completed' ? [event.data] : []));
    expect(end?.error).toMatchObject({ kind: 'format', message: expect.stringContaining('as the budget') as string });
    expect(end?.usage?.cost).toBeGreaterThan(1);
    // It asked for nothing more, and ran what it had no budget left for no more.
    expect(callsOf(log).at(-1)).toBe('unknown');
  });
});
