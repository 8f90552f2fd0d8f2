/** Real processes that change one workspace by the file tools at the same time. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { fileToolsSetup } from './file-tools-setup.ts';

const BUILT = pathToFileURL(join(import.meta.dirname, '../../../dist/adapters/file-tools/file-tools.js')).href;

/** Adds its own lines to one file, each by an edit of its own; without an end where it is to be killed. */
const WRITER = `
import { createFileTools } from ${JSON.stringify(BUILT)};
const [workspaceDirectory, lockDirectory, name, edits] = process.argv.slice(1);
const edit = createFileTools({ lockDirectory, maxLockWaitMs: 60_000 }).find(({ definition }) => definition.name === 'edit');
const context = { session: { sessionId: name, agentId: 'a' }, callId: 'c', workspaceDirectory, signal: new AbortController().signal };
for (let round = 0; round < Number(edits); round += 1) {
  await edit.run({ path: 'f', oldText: 'END', newText: name + ' ' + round + '\\nEND' }, context);
  if (round === 0) process.stdout.write('begun');
}
`;

const EDITS = 40;
const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

function writer(...words: readonly [workspace: string, locks: string, name: string, edits: number]): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, ...words.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  return child;
}

describe('two processes that change one file', { timeout: 120_000 }, () => {
  it('lose no change of each other and leave it whole', async () => {
    const { workspace, put } = await fileToolsSetup();
    const locks = join(dirname(workspace), 'locks');
    await put('f', 'END\n');
    const endings = await Promise.all(
      ['one', 'two'].map(
        async (name) => (await once(writer(workspace, locks, name, EDITS), 'exit')) as [number | null],
      ),
    );
    expect(endings.map(([code]) => code)).toEqual([0, 0]);
    const lines = (await readFile(join(workspace, 'f'), 'utf8')).split('\n');
    expect(lines.slice(-2)).toEqual(['END', '']);
    for (const name of ['one', 'two'])
      expect(lines.filter((line) => line.startsWith(name))).toEqual(
        Array.from({ length: EDITS }, (_, round) => `${name} ${round}`),
      );
    expect(lines).toHaveLength(2 * EDITS + 2);
    expect(await readdir(workspace)).toEqual(['f']);
  });

  it('wait for none that was killed, whenever that was', async () => {
    const { workspace, put } = await fileToolsSetup();
    const locks = join(dirname(workspace), 'locks');
    await put('f', 'END\n');
    // The bound is far below that after which a lock of an unknown holder is taken away.
    const edit = createFileTools({ lockDirectory: locks, maxLockWaitMs: 5_000 }).find(
      ({ definition }) => definition.name === 'edit',
    );
    for (let round = 0; round < 5; round += 1) {
      const child = writer(workspace, locks, `killed-${round}`, Number.MAX_SAFE_INTEGER);
      if (child.stdout !== null) await once(child.stdout, 'data');
      const gone = once(child, 'exit');
      // Not a wait for something: each is killed at another moment of its work.
      for (let turn = 0; turn < round * 5; turn += 1) await readdir(workspace);
      child.kill('SIGKILL');
      await gone;
      await edit?.run?.(
        { path: 'f', oldText: 'END', newText: `after ${round}\nEND` },
        {
          session: { sessionId: 's', agentId: 'a' },
          callId: 'c',
          workspaceDirectory: workspace,
          signal: new AbortController().signal,
        },
      );
    }
    const text = await readFile(join(workspace, 'f'), 'utf8');
    expect(text.split('\n').filter((line) => line.startsWith('after'))).toEqual(
      [0, 1, 2, 3, 4].map((round) => `after ${round}`),
    );
    for (const line of text.split('\n')) expect(line).toMatch(/^(?:killed-\d \d+|after \d|END|)$/);
    expect(await readdir(locks)).toEqual([]);
  });
});
