/** Artifacts in real wakes: a real runtime whose agents play scripts, over real files. */
import { lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShellView } from '../../../src/actors/artifact/artifact-hook.ts';
import { createArtifactHookSource } from '../../../src/actors/artifact/artifact-hook.ts';
import { LogTails } from '../../../src/actors/artifact/log-tails.ts';
import { createArtifactFiles } from '../../../src/adapters/file-tools/artifact-files.ts';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { MAX_FEED_EVENTS } from '../../../src/machines/artifact/log-tail.ts';
import { logOf, message } from '../../support/session-events.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

const open = (shells?: ShellView): Promise<SessionSetup> =>
  openSetup({
    tools: createFileTools(),
    hookSources: [createArtifactHookSource({ files: createArtifactFiles(), shells })],
  });

const CHECK = { toolCalls: [{ name: 'glob', input: { pattern: '*' } }] };
const READ_INDEX = { toolCalls: [{ name: 'read', input: { path: '.wakechart-runtime/index.md' } }] };

function folderOf({ home }: SessionSetup, sessionId: string): string {
  return join(home, 'agents/player/sessions', sessionId, 'workspace/.wakechart-runtime');
}

describe('an agent', () => {
  it('finds the facts of its session before its first call, and they are up to date after its last', async () => {
    await using setup = await open();
    const sessionId = await setup.session([READ_INDEX, { text: 'Read it.' }], { message: 'Look around.' });
    await setup.runtime.wake(sessionId);
    const result = (await setup.log(sessionId)).find(({ type }) => type === 'agent.tool_result');
    expect(JSON.stringify(result?.data)).toContain('Facts about session');
    const folder = folderOf(setup, sessionId);
    expect(await readFile(join(folder, 'events.md'), 'utf8')).toMatch(/\*\*wake\.ended\*\*/);
    expect(await readFile(join(folder, 'traces.md'), 'utf8')).toMatch(/tool call \| read \| completed/);
    expect(await readFile(join(folder, 'relations.md'), 'utf8')).toContain('agent player');
    expect(JSON.parse(await readFile(join(folder, 'tools.json'), 'utf8'))).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'write', family: 'files' })]),
    });
    expect(setup.reported).toEqual([]);
  });

  it('that calls nothing is told nothing, and what an earlier wake was told stays as it was', async () => {
    await using setup = await open();
    const sessionId = await setup.session([{ text: 'One.' }, CHECK, { text: 'Two.' }, { text: 'Three.' }], {
      message: 'Go.',
    });
    await setup.runtime.wake(sessionId);
    await expect(readdir(folderOf(setup, sessionId))).rejects.toThrow('ENOENT');
    for (const text of ['Check.', 'On.']) {
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text });
      await setup.runtime.wake(sessionId);
    }
    const events = await readFile(join(folderOf(setup, sessionId), 'events.md'), 'utf8');
    expect(events).toContain('Two.');
    expect(events).not.toContain('Three.');
  });

  it('finds files that say the same untouched', async () => {
    await using setup = await open();
    const sessionId = await setup.session([CHECK, { text: 'One.' }, CHECK, { text: 'Two.' }], { message: 'Go.' });
    await setup.runtime.wake(sessionId);
    const tools = join(folderOf(setup, sessionId), 'tools.md');
    const before = await lstat(tools);
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'On.' });
    await setup.runtime.wake(sessionId);
    expect((await lstat(tools)).ino).toBe(before.ino);
    expect(await readFile(join(folderOf(setup, sessionId), 'events.md'), 'utf8')).toContain('Two.');
  });

  it('finds nothing written but what its wake has changed: what the next one may use up is told when the last one ends', async () => {
    const files = createArtifactFiles();
    const written: (readonly string[])[] = [];
    const layOut: typeof files.layOut = async (...given) => {
      const names = await files.layOut(...given);
      written.push(names);
      return names;
    };
    await using setup = await openSetup({
      tools: createFileTools(),
      hookSources: [createArtifactHookSource({ files: { layOut } })],
    });
    const sessionId = await setup.session([CHECK, { text: 'One.' }, CHECK, { text: 'Two.' }], { message: 'Go.' });
    await setup.runtime.wake(sessionId);
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'On.' });
    await setup.runtime.wake(sessionId);
    const log = ['events.jsonl', 'events.md', 'traces.jsonl', 'traces.md'];
    const changed = ['context.json', 'context.md', ...log, 'permissions.json', 'permissions.md'].toSorted();
    const [, afterOne, inTwo, afterTwo] = written.map((names) => names.toSorted());
    expect([afterOne, inTwo, afterTwo]).toEqual([changed, changed, changed]);
    expect(await readFile(join(folderOf(setup, sessionId), 'permissions.md'), 'utf8')).toMatch(
      /\| maxModelStepsPerWake \| \d+ \| 0 \| \d+ \|/,
    );
  });

  it('is told of its shells what the port tells', async () => {
    await using setup = await open({
      describe: () => [{ shell: 'main', open: true, cwd: '/workspace', variables: ['TOKEN'], entries: [] }],
    });
    const sessionId = await setup.session([CHECK, { text: 'Done.' }], { message: 'Go.' });
    await setup.runtime.wake(sessionId);
    expect(await readFile(join(folderOf(setup, sessionId), 'shells.md'), 'utf8')).toContain(
      '| main | idle | /workspace | TOKEN |',
    );
  });

  it('works on where they cannot be laid out, and that is reported once', async () => {
    await using setup = await open();
    const sessionId = await setup.session([CHECK, { text: 'Done.' }, CHECK, { text: 'Again.' }], { message: 'Go.' });
    const folder = folderOf(setup, sessionId);
    await mkdir(join(folder, '..'), { recursive: true });
    await writeFile(folder, 'in the way');
    expect(await setup.runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
    expect(setup.reported).toEqual([expect.objectContaining({ code: 'ARTIFACTS_NOT_WRITTEN' })]);
    await rm(folder);
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'On.' });
    await setup.runtime.wake(sessionId);
    expect(await readdir(folder)).toContain('index.md');
    expect(setup.reported).toHaveLength(1);
  });

  it('works on when shells cannot be checked', async () => {
    await using setup = await open({ describe: () => Promise.reject(new Error('no shells')) });
    const sessionId = await setup.session([CHECK, { text: 'Done.' }], { message: 'Go.' });
    expect(await setup.runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
    expect(await readdir(folderOf(setup, sessionId))).toContain('events.md');
    expect(setup.reported).toEqual([expect.objectContaining({ message: 'no shells' })]);
  });
});

describe('the end of a long log', () => {
  it('is all that is read of it, and from then on what is new', async () => {
    const log = logOf(...Array.from({ length: 5_000 }, (_, index) => message(`message ${index + 1}`)));
    const read: number[] = [];
    const tails = new LogTails({
      read: async (_sessionId, { from = 1, limit = 1_000 } = {}) => {
        const events = log.slice(from - 1, from - 1 + limit);
        read.push(events.length);
        return events;
      },
    });
    expect((await tails.upTo('session', 4_990)).feed.at(-1)).toMatchObject({ seq: 4_990, text: 'message 4990' });
    expect(read.reduce((sum, count) => sum + count, 0)).toBe(2 * MAX_FEED_EVENTS);
    expect((await tails.upTo('session', 4_990)).feed).toHaveLength(MAX_FEED_EVENTS);
    expect((await tails.upTo('session', 5_000)).feed.map(({ seq }) => seq)).toEqual(
      Array.from({ length: MAX_FEED_EVENTS }, (_, index) => 4_801 + index),
    );
    expect(read.reduce((sum, count) => sum + count, 0)).toBe(2 * MAX_FEED_EVENTS + 10);
  });
});
