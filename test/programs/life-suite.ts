/**
 * What holds for every program that is driven by its own wire: its turns are steered, interrupted, killed and taken up
 * again, and go beside each other.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hangs } from '../support/http-models/behaviors.ts';
import { says } from '../support/http-models/conversation.ts';
import type { Behavior } from '../support/http-models/model-server.ts';
import type { Stage, StageOptions } from './stage.ts';
import { callsOf, storyOf } from './story.ts';

export interface LifeSubject {
  open(options?: Partial<Pick<StageOptions, 'runtime'>>): Promise<Stage>;
  /** Of its processes, in their command lines. */
  readonly mark: string;
  /** How its model asks for a command. */
  command(line: string): Behavior;
  /** What `command` is called in the log, and how one ends there that was cut short. */
  readonly called: string;
  readonly cutShort: string;
  /** Where it keeps its sessions, in the home of its user. */
  readonly sessions: string;
  /** Of the results of tools, in what its model is sent. */
  readonly resultMark: string;
}

/** That a person has to allow, and that runs until the file `go` is there. */
const WAITING = 'echo begun > begun; until [ -e go ]; do sleep 0.1; done; echo gone';

const RETRY_AT_ONCE = { runtime: { runLimits: { maxBackOffs: 1, maxWaitMs: 5_000 } } };

export function describeLife(subject: LifeSubject): void {
  const { open } = subject;

  /** A wake whose command waits. */
  async function waiting(stage: Stage): Promise<{ readonly id: string; readonly waking: ReturnType<Stage['wake']> }> {
    stage.conversation().script(subject.command(WAITING));
    const id = await stage.session('Wait.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true });
    await expect.poll(() => readdir(stage.workspace)).toContain('begun');
    return { id, waking };
  }

  const programs = (stage: Stage): readonly number[] =>
    stage.processes().flatMap(({ pid, command }) => (command.includes(subject.mark) ? [pid] : []));

  it('reads what is sent while it runs in the same turn', async () => {
    await using stage = await open();
    const { id, waking } = await waiting(stage);
    stage.conversation().script(says('Both done.'));
    expect(await stage.send(id, 'And this as well.', 'steer')).toMatchObject({ acceptedAs: 'steer' });
    await stage.put('go', '');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Both done.' });
    expect(stage.conversation().requestWith('And this as well.')).toBeDefined();
  });

  it('is cut short by a message that interrupts, and goes on with it in its own session', async () => {
    await using stage = await open();
    const { id, waking } = await waiting(stage);
    stage.conversation().script(says('I stopped.'));
    await stage.send(id, 'Stop that.', 'interrupt');
    await waking;
    await expect.poll(() => programs(stage)).toEqual([]);
    await stage.wake(id);
    expect(storyOf(await stage.log(id))).toEqual([
      'told: Wait.',
      `use ${subject.called} by backend`,
      'asked',
      'resolved allowed',
      'started, allowed by person',
      'told: Stop that.',
      'interrupted',
      `${subject.called} cancelled: ${subject.cutShort}`,
      'session 1',
      'step failed: aborted',
      'wake: interrupted',
      'says I stopped.',
      'session 1',
      'wake: sleep',
    ]);
  });

  it('is begun once more when it is killed before it has done anything', async () => {
    await using stage = await open(RETRY_AT_ONCE);
    stage.conversation().script(hangs, says('Here again.'));
    const id = await stage.session('Go.');
    const waking = stage.wake(id);
    await expect.poll(() => stage.conversation().requests.length).toBe(1);
    for (const pid of programs(stage)) process.kill(pid, 'SIGKILL');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'Here again.' });
    expect(storyOf(await stage.log(id))).toContain('failed: server_error, so back_off');
  });

  it('leaves a call unknown when it is killed in the middle of it, and is not asked for it again', async () => {
    await using stage = await open(RETRY_AT_ONCE);
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
    await using stage = await open();
    stage.conversation().script(subject.command(WAITING));
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

  it('goes on in its own session, and is told only what is new', async () => {
    await using stage = await open();
    stage.conversation().script(says('One.'), says('Two.'));
    const id = await stage.session('Count, please.');
    await stage.wake(id);
    await stage.send(id, 'Go on.');
    expect(await stage.wake(id)).toMatchObject({ summary: 'Two.' });
    expect(stage.conversation().requests.at(-1)?.text.split('Count, please.')).toHaveLength(2);
    expect(storyOf(await stage.log(id))).not.toContain('session 2');
  });

  it('is told the whole conversation again when its own session is gone', async () => {
    await using stage = await open();
    stage.conversation().script(says('One.'), says('Two.'));
    const id = await stage.session('Count, please.');
    await stage.wake(id);
    await rm(join(stage.userHome, subject.sessions), { recursive: true });
    await stage.send(id, 'Go on.');
    expect(await stage.wake(id)).toMatchObject({ summary: 'Two.' });
    expect(stage.conversation().requests.at(-1)?.text).toContain('Count, please.');
    expect(storyOf(await stage.log(id))).toContain('session 2');
  });

  it('works in two sessions at once', async () => {
    await using stage = await open();
    for (const task of ['left', 'right'])
      stage.conversation().script(
        {
          when: ({ text }) => text.includes(`Make ${task}.`) && !text.includes(subject.resultMark),
          answer: subject.command(`echo ${task} > ${task}`),
        },
        { when: ({ text }) => text.includes(`Make ${task}.`), answer: says(`Made ${task}.`) },
      );
    const ids = [await stage.session('Make left.'), await stage.session('Make right.')];
    const outcomes = await Promise.all(ids.map((id) => stage.wakeAllowing(id)));
    expect(outcomes.map((outcome) => 'summary' in outcome && outcome.summary)).toEqual(['Made left.', 'Made right.']);
    expect([await stage.file('left'), await stage.file('right')]).toEqual(['left\n', 'right\n']);
  });
}
