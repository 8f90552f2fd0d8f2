/** `wakechart learnings`, `memory` and `resources`, by people at a terminal. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { createIdSource } from '../../src/actors/session/id-source.ts';
import { SessionJournal } from '../../src/actors/session/session-journal.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import type { SessionEventDraft } from '../../src/machines/session/session-event.ts';
import type { Ended } from './command-line.ts';
import { Stage } from './stage.ts';

let stage: Stage;
let session: string;
let agent: string;

/** What a session of the agent has in its log, as a wake would have put it there. */
async function append(...drafts: readonly SessionEventDraft[]): Promise<void> {
  const clock = createSystemClock();
  const store = new FileEventStore({ home: stage.home, clock });
  const journal = await SessionJournal.open(session, { store, clock, ids: createIdSource({ clock }) });
  await journal.append(drafts);
  await store.close();
}

const learned = (learningId: string, title: string): SessionEventDraft => ({
  type: 'learning.captured',
  data: { learningId, kind: 'lesson', title, detail: 'Do it.', promoteToMemory: true },
});

beforeAll(async () => {
  stage = await Stage.open();
  session = (await stage.session()).id;
  agent = (await stage.runtime.sessions.status(session)).agentId;
  await append(learned('first', 'Use CI=true'), learned('second', 'use ci = true'), learned('third', 'Another'));
});
afterAll(() => stage.close());

async function json<Answer>(...words: readonly string[]): Promise<Answer> {
  const ended = await stage.run(...words, '--json');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout) as Answer;
}

const refused = async (...words: readonly string[]): Promise<Ended> => {
  const ended = await stage.run(...words);
  expect(ended.code).not.toBe(0);
  return ended;
};

describe('the memory on the command line', () => {
  it('is promoted for a session through the gate only, and forgotten by people', async () => {
    expect((await refused('memory', 'promote', '--session', session)).stderr).toMatch(
      /no outcome that could be reached.*PROMOTION_REFUSED/s,
    );
    expect(await json('learnings', 'list', '--agent', agent)).toMatchObject({ learnings: [] });
    await stage.runtime.sessions.send(session, { type: 'user.define_outcome', title: 'Done.' });
    await append({
      type: 'outcome.evaluated',
      data: { verdict: 'pass', because: 'So it is.', evidence: [], throughSeq: 5, evaluators: ['log'] },
    });
    expect((await refused('memory', 'promote', '--session', session, '--expected-version', '7')).stderr).toContain(
      'SHARED_FILES_CONFLICT',
    );
    expect(await json('memory', 'promote', '--session', session)).toMatchObject({
      agentId: agent,
      version: 1,
      learningIds: ['first', 'third'],
    });
    expect((await stage.eventsOf(session)).filter(({ type }) => type === 'memory.promoted')).toHaveLength(1);
    expect(await json('memory', 'show', '--agent', agent)).toMatchObject({
      version: 1,
      entries: [{ learningId: 'first', title: 'Use CI=true' }, { learningId: 'third' }],
    });
    expect((await stage.run('memory', 'forget', '--agent', agent, '--entry', 'third')).stdout).toContain('version 2');
    expect((await refused('memory', 'forget', '--agent', agent, '--entry', 'third')).stderr).toContain(
      'MEMORY_ENTRY_NOT_FOUND',
    );
    expect((await json<{ diff: string }>('memory', 'diff', '--agent', agent, '--at', '2')).diff).toContain(
      '-- **Lesson**: Another\n',
    );
    expect(await json('memory', 'diff', '--agent', agent, '--at', '1')).toMatchObject({
      from: 0,
      to: 1,
      diff: expect.stringContaining('+- **Lesson**: Another\n') as string,
    });
    expect(await json('memory', 'diff', '--agent', agent, '--at', '1', '--against', '2')).toMatchObject({
      from: 2,
      to: 1,
      diff: expect.stringContaining('+- **Lesson**: Another\n') as string,
    });
    expect((await stage.run('memory', 'diff', '--agent', agent)).stdout).toBe(
      'In the folder MEMORY.md is as in version 2.\n',
    );
    expect(await json('memory', 'restore', '--agent', agent, '--at', '1')).toMatchObject({ version: 3, isNew: true });
    expect(await json('memory', 'versions', '--agent', agent)).toMatchObject({
      head: 3,
      versions: [
        { version: 3, by: { kind: 'people' } },
        { version: 2 },
        { version: 1, by: { kind: 'session', sessionId: session } },
      ],
    });
    expect((await stage.run('memory', 'show', '--agent', agent)).stdout).toContain('Use CI=true');
  });

  it('says of a version that was passed which command shows what has changed since', async () => {
    const { stderr } = await refused('memory', 'restore', '--agent', agent, '--at', '1', '--expected-version', '2');
    const [, command = ''] = / (resources diff [^)]*)\)/.exec(stderr) ?? [];
    expect(command).toBe(`resources diff --agent ${agent} --at 3 --against 2`);
    expect((await json<{ diff: string }>(...command.split(' '))).diff).toContain('+- **Lesson**: Another\n');
    expect(stderr).toContain('Then try again with version 3.');
    // One that never was has no difference to anything.
    expect(
      (await refused('memory', 'restore', '--agent', agent, '--at', '1', '--expected-version', '7')).stderr,
    ).toContain(`resources list --agent ${agent}`);
  });

  it('shows learnings, forgets them and makes them anew of the logs', async () => {
    await json('learnings', 'rebuild', '--agent', agent);
    expect(await json('learnings', 'show', '--agent', agent, '--learning', 'first')).toMatchObject({
      count: 2,
      title: 'Use CI=true',
      sessionId: session,
    });
    expect((await stage.run('learnings', 'list', '--agent', agent, '--text', 'another')).stdout).toMatch(
      /third\s+lesson\s+1/,
    );
    expect(await json('learnings', 'forget', '--agent', agent, '--learning', 'third')).toMatchObject({
      forgotten: true,
    });
    expect((await refused('learnings', 'show', '--agent', agent, '--learning', 'third')).stderr).toContain(
      'LEARNING_NOT_FOUND',
    );
    expect(await json('learnings', 'rebuild', '--agent', agent)).toMatchObject({ learnings: 1, unreadable: [] });
    expect((await refused('learnings', 'list', '--agent', 'nobody')).stderr).toContain('AGENT_NOT_FOUND');
    expect((await refused('learnings', 'list', '--agent', '../x')).code).not.toBe(0);
  });

  it('lists shared files that people edit, and goes back to what they were', async () => {
    const { version, folder } = await json<{ version: number; folder: string }>('resources', 'list', '--agent', agent);
    await writeFile(join(folder, 'notes.md'), 'mine\n');
    // Checking what was edited by hand does not make it a version yet.
    for (const _ of ['once', 'again'])
      expect(await json('resources', 'diff', '--agent', agent)).toMatchObject({
        from: version,
        to: 'folder',
        diff: expect.stringContaining('+mine\n') as string,
      });
    expect((await stage.run('memory', 'diff', '--agent', agent)).stdout).toBe(
      `In the folder MEMORY.md is as in version ${version}.\n`,
    );
    expect(await json('resources', 'list', '--agent', agent)).toMatchObject({
      version: version + 1,
      files: [{ path: 'MEMORY.md' }, { path: 'notes.md', bytes: 5 }],
    });
    expect((await stage.run('resources', 'diff', '--agent', agent, '--at', String(version + 1))).stdout).toContain(
      '+mine\n',
    );
    expect((await stage.run('resources', 'diff', '--agent', agent)).stdout).toBe(
      `In the folder the files are as in version ${version + 1}.\n`,
    );
    expect((await stage.run('memory', 'diff', '--agent', agent, '--at', String(version + 1))).stdout).toBe(
      `Version ${version + 1} did not change MEMORY.md.\n`,
    );
    expect((await stage.run('resources', 'diff', '--agent', agent, '--against', String(version))).stdout).toContain(
      '+mine\n',
    );
    expect((await refused('resources', 'diff', '--agent', agent, '--against', '99')).stderr).toContain(
      'SHARED_FILES_VERSION_NOT_FOUND',
    );
    expect(
      await json(
        'resources',
        'restore',
        '--agent',
        agent,
        '--at',
        String(version),
        '--expected-version',
        String(version + 1),
      ),
    ).toMatchObject({ changed: ['notes.md'] });
    expect((await stage.run('resources', 'versions', '--agent', agent)).stdout).toMatch(
      /people\s+notes\.md\s+edited by hand/,
    );
    expect((await refused('resources', 'diff', '--agent', agent, '--at', '99')).stderr).toContain(
      'SHARED_FILES_VERSION_NOT_FOUND',
    );
    expect((await refused('resources', 'restore', '--agent', agent, '--at', '0')).code).toBe(2);
  });
});
