/** The crash matrix over files: every change of the disk is an operation in place of which a process is killed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { filesStore } from '../support/store-under-test.ts';
import type { Place } from '../support/store-under-test.ts';
import { crashMatrix } from './crash-matrix-suite.ts';

/** The limits of the host are so small that both happen on the way. */
async function expectRolledAndChecked({ home }: Place, [sessionId = '']: readonly string[]): Promise<void> {
  const folder = join(home, 'agents/player/sessions', sessionId);
  expect(await readdir(folder)).toContain('events.000002.jsonl');
  expect(await readdir(join(folder, 'runtime'))).toContain('checkpoint.json');
}

crashMatrix({
  store: filesStore,
  atLeast: { wake: 60, send: 12, child: 60, copies: 20, answer: 60, subflow: 100, worker: 100 },
  // The log, hints, the bell, views and checkpoints, the lease's folder and its socket.
  kinds: [
    /^write$/,
    /^datasync$/,
    /^link \d{15}\.n/,
    /^unlink \d{15}\.n/,
    /\.bell$/,
    /^open session\.json$/,
    /^rename .*checkpoint\.json/,
    /^mkdir lease$/,
    /^bind .*\.sock$/,
    /^unbind$/,
  ],
  inspect: expectRolledAndChecked,
});
