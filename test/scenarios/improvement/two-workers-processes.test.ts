/** Two workers on one home, and ten sessions of one agent that learn and promote at the same time. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { run } from '../../cli/command-line.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import {
  LEARNER,
  SHARED_LESSON,
  complaintsAbout,
  lessonOf,
  logOf,
  ofType,
  startSession,
  writeLearner,
} from './learning-home.ts';

const SESSIONS = 10;

let home: TemporaryHome;
let runtime: NodeRuntime;
beforeEach(async () => {
  home = await temporaryHome();
  await writeLearner(home.path, { sessions: SESSIONS });
  runtime = await createNodeRuntime({ home: home.path });
});
afterEach(async () => {
  await runtime.shutdown();
  await home.remove();
});

describe('ten sessions of one agent in the hands of two workers', () => {
  it(
    'keep each learning once, promote each once, and leave what people have written as it was',
    { timeout: 300_000 },
    async () => {
      const ids: string[] = [];
      for (let session = 0; session < SESSIONS; session += 1) ids.push(await startSession(runtime, session));
      const workers = await Promise.all(
        [1, 2].map(() => run(['worker', '--until-idle', '--concurrency', '5', '--json', '--home', home.path])),
      );
      expect(workers.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        [1, 2].map(() => ({ code: 0, stderr: expect.not.stringMatching(/error/i) as string })),
      );
      // Both have had a hand in it.
      expect(workers.filter(({ stdout }) => stdout.includes('"woke"'))).toHaveLength(2);

      for (const id of ids) expect(await complaintsAbout(runtime, home.path, id)).toEqual([]);
      const learnings = await runtime.learnings.list(LEARNER);
      expect(learnings.map(({ title }) => title).toSorted()).toEqual(
        [SHARED_LESSON, ...ids.map((_, index) => lessonOf(index))].toSorted(),
      );
      expect(learnings.find(({ title }) => title === SHARED_LESSON)).toMatchObject({ count: SESSIONS });
      const { entries } = await runtime.memory.read(LEARNER);
      expect(entries.map(({ title }) => title).toSorted()).toEqual(learnings.map(({ title }) => title).toSorted());
      const promoted = await Promise.all(
        ids.map(async (id) => ofType(await logOf(runtime, id), 'memory.promoted').length),
      );
      expect(promoted).toEqual(ids.map(() => 1));
      const text = await readFile(join(home.path, 'agents', LEARNER, 'substrate', 'MEMORY.md'), 'latin1');
      expect(text.split(SHARED_LESSON)).toHaveLength(3);
    },
  );
});
