/**
 * A disk that becomes full while a session learns, at every stage: the wake goes on or fails clearly, and with space
 * again everything is there once and whole.
 */
import { mkdir, readFile, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { mountSmallDisk, unmount, whyNoSmallDisk } from '../../support/small-disk.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { LEARNER, complaintsAbout, lessonOf, logOf, ofType, startSession, writeLearner } from './learning-home.ts';

const DISK_BYTES = 8_000_000;

/**
 * Pages that are free when the wake begins, from none to more than it needs: each stops another of the things that are
 * written.
 */
const FREE_PAGES = [0, 4, 8, 12, ...Array.from({ length: 40 }, (_, index) => 16 + index), 70];

/** By the last of these whatever failed has been tried again. */
const WAKES_AFTERWARDS = 3;

let folder: TemporaryHome;
let home: string;
beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'disk');
  await mkdir(home);
});
afterEach(() => folder.remove());

/** Takes all the space but for so many pages. */
async function fillUp(freePages: number): Promise<void> {
  const { bavail, bsize } = await statfs(home);
  await writeFile(join(home, 'ballast'), Buffer.alloc(Math.max(0, bavail - freePages) * bsize));
}

/** Artifacts are for an agent to read: each is there whole or not at all. */
async function tornArtifacts(sessionId: string): Promise<readonly string[]> {
  const place = join(home, 'agents', LEARNER, 'sessions', sessionId, 'workspace/.wakechart-runtime');
  const names = (await readdir(place).catch(() => [])).filter((name) => name.endsWith('.json'));
  const torn = await Promise.all(
    names.map(async (name) => (isJson(await readFile(join(place, name), 'utf8')) ? [] : [name])),
  );
  return torn.flat();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How far the wake on the full disk has come, after everything else was checked. */
type Stage = 'nothing' | 'learned' | 'kept' | 'promoted';

async function learnOnFullDisk(freePages: number): Promise<Stage> {
  await writeLearner(home);
  let sessionId: string;
  let stage: Stage;
  {
    await using runtime = await createNodeRuntime({ home, onListenerError: () => undefined });
    sessionId = await startSession(runtime, 0);
    await fillUp(freePages);
    const ended = await runtime.wake(sessionId).catch((error: unknown) => error);
    // Whatever it is that came, it says what is wrong.
    if (ended instanceof Error) expect(RuntimeError.is(ended) && ended.toJSON()).toMatchObject({ category: 'storage' });
    expect(await tornArtifacts(sessionId)).toEqual([]);
    stage = stageOf(await logOf(runtime, sessionId));
  }
  await rm(join(home, 'ballast'));
  await expectAllThere(sessionId);
  return stage;
}

function stageOf(events: readonly SessionEvent[]): Stage {
  if (ofType(events, 'memory.promoted').length > 0) return 'promoted';
  if (ofType(events, 'learning.kept').length > 0) return 'kept';
  return ofType(events, 'learning.captured').length > 0 ? 'learned' : 'nothing';
}

/** Once somebody else goes on with it, with space. */
async function expectAllThere(sessionId: string): Promise<void> {
  await using runtime = await createNodeRuntime({ home });
  for (let wake = 0; wake < WAKES_AFTERWARDS; wake += 1) await goOn(runtime, sessionId);
  // A command that could not be run did not do the work: then nothing may be promoted, and the log says so.
  const isDone = await readFile(
    join(home, 'agents', LEARNER, 'sessions', sessionId, 'workspace/result.txt'),
    'utf8',
  ).then(
    (text) => text !== '',
    () => false,
  );
  const lastVerdict = ofType(await logOf(runtime, sessionId), 'outcome.evaluated').at(-1)?.data;
  // A check that could not be run says nothing of the work, and it is for people to have it run again.
  if (lastVerdict?.verdict === 'uncertain') {
    expect(lastVerdict.because).toMatch(/could not be run/);
    expect((await runtime.outcomes.evaluate(sessionId)).verdict).toBe(isDone ? 'pass' : 'fail');
    await goOn(runtime, sessionId);
  }
  expect(await complaintsAbout(runtime, home, sessionId)).toEqual([]);
  expect(await tornArtifacts(sessionId)).toEqual([]);
  const events = await logOf(runtime, sessionId);
  expect(ofType(events, 'learning.captured')).toHaveLength(2);
  expect(ofType(events, 'memory.promoted')).toHaveLength(isDone ? 1 : 0);
  const { candidates } = await runtime.retrieval.search({ agentId: LEARNER, query: lessonOf(0) });
  expect(candidates.map(({ evidence }) => evidence.replaceAll(/[«»]/g, '')).join('\n')).toContain(lessonOf(0));
}

async function goOn(runtime: NodeRuntime, sessionId: string): Promise<void> {
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'There is space again.' });
  await runtime.wake(sessionId);
}

describe.skipIf(whyNoSmallDisk !== undefined)('a disk that becomes full while a session learns', () => {
  it(
    'tears nothing at whatever stage, and what was learned is kept and promoted once there is space',
    { timeout: 600_000 },
    async () => {
      const stages = new Set<Stage>();
      for (const freePages of FREE_PAGES) {
        expect(mountSmallDisk(home, DISK_BYTES)).toBeUndefined();
        try {
          stages.add(await learnOnFullDisk(freePages));
        } catch (error) {
          throw new Error(`with ${freePages} pages left`, { cause: error });
        } finally {
          unmount(home);
        }
      }
      // A series that never stopped in the middle would say less than it seems to.
      expect([...stages]).toEqual(expect.arrayContaining(['nothing', 'learned', 'promoted']));
    },
  );
});
