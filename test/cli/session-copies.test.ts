/** Forks, exports, imports and the end of sessions, through the command line. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { parseScript } from '../../src/adapters/script/script-schema.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

async function workedSession(): Promise<string> {
  const { id } = await stage.sessionToWake(
    runs('echo one'),
    sleeps('Did one.', { queuedWakes: [{ reason: 'later', delaySeconds: 3_600 }] }),
  );
  await stage.run('wake', '--session', id);
  return id;
}

describe.concurrent('a session', () => {
  it('is forked at an event, and what was queued in it is queued once', async () => {
    const id = await workedSession();
    const forked = await stage.run('session', 'fork', '--session', id, '--at', '5', '--title', 'another way', '--json');
    expect(JSON.parse(forked.stdout)).toMatchObject({
      title: 'another way',
      status: 'idle',
      queuedWakes: [],
      forkOf: { sessionId: id, seq: 5 },
    });
    const whole = JSON.parse((await stage.run('session', 'fork', '--session', id, '--json')).stdout) as SessionState;
    expect(whole).toMatchObject({ status: 'idle', queuedWakes: [] });
    expect((await stage.runtime.sessions.status(id)).queuedWakes).toHaveLength(1);
    expect((await stage.run('session', 'fork', '--session', id, '--at', '9999')).stderr).toContain(
      '[FORK_OUT_OF_RANGE]',
    );
  });

  it('is exported, deleted, and brought back as it was', async () => {
    const id = await workedSession();
    const before = await stage.eventsOf(id);
    const file = join(stage.home, `${id}.jsonl`);
    await writeFile(file, (await stage.run('session', 'export', '--session', id)).stdout);
    expect((await stage.run('session', 'import', file)).stderr).toContain('[SESSION_EXISTS]');
    expect(await stage.run('session', 'delete', '--session', id, '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect((await stage.run('session', 'status', '--session', id)).code).toBe(1);
    expect(await stage.run('session', 'import', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('asks before each call that no rule allows; --trusted keeps') as string,
      stderr: '',
    });
    // As another program sees it: the runtime of the stage still knows the session that is gone.
    const events = (await stage.run('session', 'events', '--session', id, '--json')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as (typeof before)[number]);
    expect(events.slice(1)).toEqual(before.slice(1));
    // That it was brought in is said, since what it was granted elsewhere does not count here.
    expect(events[0]).toMatchObject({ ...before[0], data: { ...before[0]?.data, importedThroughSeq: before.length } });
  });

  it('is not made from an export that was changed, and the place is named', async () => {
    const id = await workedSession();
    const file = join(stage.home, `${id}-changed.jsonl`);
    const lines = (await stage.run('session', 'export', '--session', id)).stdout.split('\n');
    await writeFile(file, lines.map((line, index) => (index === 2 ? line.replace('Begin', 'Began') : line)).join('\n'));
    await stage.run('session', 'delete', '--session', id, '--yes');
    expect((await stage.run('session', 'import', file)).stderr).toMatch(
      /do not add up to its hash[\s\S]*nothing was imported/,
    );
    await writeFile(file, lines.filter((_, index) => index !== 3).join('\n'));
    expect((await stage.run('session', 'import', file)).stderr).toContain(
      'expected event 3 on line 4 of the export, received event 4',
    );
    expect((await stage.run('session', 'import', join(stage.home, 'not-there'))).stderr).toContain('[FILE_UNREADABLE]');
  });

  it('is exported as a script that plays the same again', async () => {
    const id = await workedSession();
    const script = (await stage.run('session', 'export', '--session', id, '--as', 'script')).stdout;
    const { id: other } = await stage.sessionToWake();
    const agent = (await stage.runtime.sessions.status(other)).agentId;
    await writeFile(join(stage.home, 'agents', agent, 'script.json'), script);
    expect(await stage.run('wake', '--session', other)).toMatchObject({ code: 0 });
    const said = async (sessionId: string): Promise<unknown[]> =>
      (await stage.eventsOf(sessionId)).flatMap(({ type, data }) =>
        type === 'agent.tool_use'
          ? [data.input]
          : type === 'agent.message'
            ? [data.text]
            : type === 'directive.accepted'
              ? [data.directive]
              : [],
      );
    expect((await said(id)).length).toBeGreaterThan(1);
    expect(await said(other)).toEqual(await said(id));
  });

  it('says beside the script what a script cannot say', async () => {
    const unmet = { expect: { lastUserMessageIncludes: 'nobody says this' }, text: 'x' };
    const { id } = await stage.sessionToWake(unmet);
    await stage.run('wake', '--session', id);
    const { stdout, stderr, code } = await stage.run('session', 'export', '--session', id, '--as', 'script');
    expect(code).toBe(0);
    const { notes = [], steps } = parseScript(stdout, 'the recording');
    expect([steps, notes]).toEqual([
      [],
      [expect.stringMatching(/^Step 1: A step that failed before it counted is left out/)],
    ]);
    expect(stderr).toBe(`note ${notes[0]}\n`);
  });

  it('that runs is not deleted', async () => {
    const { id } = await stage.sessionToWake(runs('sleep 300'));
    const waking = stage.runtime.wake(id);
    for await (const { type } of stage.runtime.sessions.events(id, { follow: true }))
      if (type === 'agent.tool_started') break;
    expect((await stage.runProgram('session', 'delete', '--session', id, '--yes')).stderr).toContain('[SESSION_BUSY]');
    await stage.runtime.sessions.interrupt(id);
    expect(await waking).toMatchObject({ outcome: 'interrupted' });
    expect(
      await readFile(
        join(stage.home, 'agents', (await stage.runtime.sessions.status(id)).agentId, 'sessions', id, 'events.jsonl'),
        'utf8',
      ),
    ).toContain('user.interrupt');
  });

  it('has children that are shown, and hears of their rest', async () => {
    const { id } = await stage.session();
    const child = await stage.session({ text: 'Child here.' });
    const { agentId } = await stage.runtime.sessions.status(child.id);
    const created = JSON.parse(
      (await stage.run('session', 'create', '--agent', agentId, '--parent', id, '--title', 'kid', '--json')).stdout,
    ) as SessionState;
    await stage.run('session', 'send', '--session', created.sessionId, '--message', 'Go.');
    await stage.run('wake', '--session', created.sessionId);
    expect((await stage.run('session', 'status', '--session', id)).stdout).toMatch(
      new RegExp(`^children +${created.sessionId} \\(${agentId}, idle\\)$`, 'm'),
    );
  });
});
