import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fileToolsSetup } from './file-tools-setup.ts';

const BUILT = pathToFileURL(join(import.meta.dirname, '../../../dist/adapters/file-tools/file-tools.js')).href;

/** Writes one file over and over, each time all of one letter, and says so once it has begun. */
const WRITER = `
import { createFileTools } from ${JSON.stringify(BUILT)};
const write = createFileTools().find(({ definition }) => definition.name === 'write');
const context = { session: { sessionId: 's', agentId: 'a' }, callId: 'c', workspaceDirectory: process.argv[1], signal: new AbortController().signal };
for (let round = 0; ; round += 1) {
  await write.run({ path: 'f', content: (round % 2 === 0 ? 'a' : 'b').repeat(500_000) }, context);
  if (round === 0) process.stdout.write('begun');
}
`;

describe('a writer that is killed', () => {
  it('leaves the file whole, and what it had begun out of sight of searches', async () => {
    const { call, workspace } = await fileToolsSetup();
    for (let round = 0; round < 6; round += 1) {
      const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, workspace], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(writer.stdout, 'data');
      const ended = once(writer, 'exit');
      // Not a wait for something: each round is killed at another moment of its work.
      for (let turn = 0; turn < round * 7; turn += 1) await readdir(workspace);
      writer.kill('SIGKILL');
      await ended;
      const content = await readFile(join(workspace, 'f'), 'utf8');
      expect([content.length, new Set(content).size]).toEqual([500_000, 1]);
      expect(await call('glob', { pattern: '**', includeHidden: true, includeIgnored: true })).toMatchObject({
        files: ['f'],
      });
      await rm(join(workspace, 'f'));
    }
  });
});
