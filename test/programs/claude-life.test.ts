/** Turns of Claude Code that are steered, interrupted, killed and taken up again, beside each other, or cut by a limit. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failsWithError, hangs } from '../support/http-models/behaviors.ts';
import { says, use } from '../support/http-models/conversation.ts';
import { openClaude } from './claude-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';
import { callsOf, storyOf } from './story.ts';

/** A command that a person has to allow, and that runs until the file `go` is there. */
const WAITS = use('Bash', {
  command: 'echo begun > begun; until [ -e go ]; do sleep 0.1; done; echo gone',
  description: 'waits',
});

const RETRY_AT_ONCE = { maxBackOffs: 1, maxWaitMs: 5_000 };

/** A wake whose command waits. */
async function waiting(stage: Stage): Promise<{ readonly id: string; readonly waking: ReturnType<Stage['wake']> }> {
  stage.conversation().script(WAITS);
  const id = await stage.session('Wait.');
  const waking = stage.wake(id);
  await stage.confirm(id, { allowed: true });
  await expect.poll(() => readdir(stage.workspace)).toContain('begun');
  return { id, waking };
}

const programs = (stage: Stage): readonly number[] =>
  stage.processes().flatMap(({ pid, command }) => (command.includes('--input-format=stream-json') ? [pid] : []));

describeProgram('claude', () => {
  it('reads what is sent while it runs in the same turn', async () => {
    await using stage = await openClaude();
    const { id, waking } = await waiting(stage);
    stage.conversation().script(says('Both done.'));
    expect(await stage.send(id, 'And this as well.', 'steer')).toMatchObject({ acceptedAs: 'steer' });
    await stage.put('go', '');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Both done.' });
    expect(stage.conversation().requests).toHaveLength(2);
    expect(stage.conversation().requestWith('And this as well.')).toBe(stage.conversation().requests.at(-1));
  });

  it('is cut short by a message that interrupts, and goes on with it in its own session', async () => {
    await using stage = await openClaude();
    const { id, waking } = await waiting(stage);
    stage.conversation().script(says('I stopped.'));
    await stage.send(id, 'Stop that.', 'interrupt');
    await waking;
    await expect.poll(() => programs(stage)).toEqual([]);
    await stage.wake(id);
    expect(storyOf(await stage.log(id))).toEqual([
      'told: Wait.',
      'use Bash by backend',
      'asked',
      'resolved allowed',
      'started, allowed by person',
      'told: Stop that.',
      'interrupted',
      "Bash cancelled: The user doesn't want to proceed with this tool use. The too…",
      'session 1',
      'wake: interrupted',
      'says I stopped.',
      'session 1',
      'wake: sleep',
    ]);
  });

  it('is begun once more when it is killed before it has done anything', async () => {
    await using stage = await openClaude({ runtime: { runLimits: RETRY_AT_ONCE } });
    stage.conversation().script(hangs, says('Here again.'));
    const id = await stage.session('Go.');
    const waking = stage.wake(id);
    await expect.poll(() => stage.conversation().requests.length).toBe(1);
    for (const pid of programs(stage)) process.kill(pid, 'SIGKILL');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Here again.' });
    expect(storyOf(await stage.log(id))).toContain('failed: server_error, so back_off');
  });

  it('leaves a call unknown when it is killed in the middle of it, and is not asked for it again', async () => {
    await using stage = await openClaude({ runtime: { runLimits: RETRY_AT_ONCE } });
    const { id, waking } = await waiting(stage);
    for (const pid of programs(stage)) process.kill(pid, 'SIGKILL');
    await waking;
    expect(callsOf(await stage.log(id)).at(-1)).toBe('unknown');
    // What was killed rests for a minute.
    expect((await stage.cli('auth', 'reset', '--all')).code).toBe(0);
    stage.conversation().script(says('It is unknown.'));
    await stage.send(id, 'What came of it?');
    expect(await stage.wake(id)).toMatchObject({ summary: 'It is unknown.' });
    expect(stage.processes()).toEqual([]);
  });

  it('is ended with what it started when our own process is killed, and the next wake goes on', async () => {
    await using stage = await openClaude();
    stage.conversation().script(WAITS);
    const id = await stage.session('Wait.');
    const ours = stage.startCli('wake', '--session', id);
    await stage.confirm(id, { allowed: true });
    await expect.poll(() => readdir(stage.workspace)).toContain('begun');
    ours.process.kill('SIGKILL');
    await ours.ended;
    stage.conversation().script(says('Again.'));
    await stage.send(id, 'Go on.');
    const again = await stage.cli('wake', '--session', id);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Again.')]);
    expect(callsOf(await stage.log(id)).at(-1)).toBe('unknown');
    expect(programs(stage)).toEqual([]);
  });

  it('is told the whole conversation again when its own session is gone', async () => {
    await using stage = await openClaude();
    stage.conversation().script(says('One.'), says('Two.'));
    const id = await stage.session('Count, please.');
    await stage.wake(id);
    await rm(join(stage.userHome, '.claude/projects'), { recursive: true });
    await stage.send(id, 'Go on.');
    expect(await stage.wake(id)).toMatchObject({ summary: 'Two.' });
    expect(stage.conversation().requests.at(-1)?.text).toContain('Count, please.');
    expect(storyOf(await stage.log(id))).toContain('session 2');
  });

  it('works in two sessions at once', async () => {
    await using stage = await openClaude();
    for (const task of ['left', 'right'])
      stage.conversation().script(
        {
          when: ({ text }) => text.includes(`Make ${task}.`) && !text.includes('tool_result'),
          answer: use('Write', { file_path: `${stage.workspace}/${task}`, content: task }),
        },
        { when: ({ text }) => text.includes(`Make ${task}.`), answer: says(`Made ${task}.`) },
      );
    const ids = [await stage.session('Make left.'), await stage.session('Make right.')];
    const outcomes = await Promise.all(ids.map((id) => stage.wakeAllowing(id)));
    expect(outcomes.map((outcome) => 'summary' in outcome && outcome.summary)).toEqual(['Made left.', 'Made right.']);
    expect([await stage.file('left'), await stage.file('right')]).toEqual(['left', 'right']);
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
  });
});
