/**
 * A real process is killed in place of every change that a wake makes to a disk which learns, is evaluated with a
 * check, and promotes. Whoever comes next keeps what was learned once, promotes it once or says why not, and finds the
 * shared memory whole.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { complaintsAbout, logOf, ofType, startSession, writeLearner } from '../scenarios/improvement/learning-home.ts';
import { hostSnapshot } from '../support/host-snapshot.ts';
import { evenly, pointsWorthKilling } from './crash-points.ts';
import type { HostSnapshot } from '../support/host-snapshot.ts';
import { copyOfHome } from '../support/store-under-test.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const HOST = fileURLToPath(new URL('../fixtures/processes/learning-host.mjs', import.meta.url));

/** Processes that are killed at the same time; more would only wait for each other. */
const AT_ONCE = 2;

/**
 * `CRASH_MATRIX=all` (`npm run test:matrix`, part of CI) tries every operation; otherwise this many, evenly spread over
 * the second half, where it learns.
 */
const POINTS_OF_A_SLICE = 3;

interface Life {
  readonly operations: readonly string[];
  readonly isDone: boolean;
}

const { peerDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};

let snapshot: HostSnapshot;
let template: TemporaryHome;
let sessionId: string;

beforeAll(async () => {
  snapshot = await hostSnapshot(HOST, ['node.js'], Object.keys(peerDependencies));
  template = await temporaryHome();
  await writeLearner(template.path);
  await using runtime = await createNodeRuntime({ home: template.path });
  sessionId = await startSession(runtime, 0);
});
afterAll(() => Promise.all([template.remove(), snapshot.remove()]));

function live(home: string, crashAt?: number): Promise<Life> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...snapshot.parameters, JSON.stringify({ home, sessionId, crashAt })],
      { encoding: 'utf8', env: { ...process.env, ...snapshot.variables } },
      (error, stdout, stderr) => {
        if (error !== null && error.signal !== 'SIGKILL') return reject(new Error(`the host failed: ${stderr}`));
        const lines = stdout
          .trimEnd()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as { operation?: string; done?: boolean });
        resolve({
          operations: lines.flatMap(({ operation }) => operation ?? []),
          isDone: lines.some(({ done }) => done === true),
        });
      },
    );
  });
}

async function inCopy<Value>(use: (home: string) => Promise<Value>): Promise<Value> {
  const home = await copyOfHome(template.path);
  try {
    return await use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** One more wake, by somebody else. */
async function afterwards(
  home: string,
): Promise<{ readonly wrong: readonly string[]; readonly promotions: number; readonly refusals: number }> {
  await using runtime = await createNodeRuntime({ home, onListenerError: (error) => expect.fail(String(error)) });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'How far have you come?' });
  await runtime.wake(sessionId);
  const { status, openWake, openToolCalls, pending } = await runtime.sessions.get(sessionId);
  expect({ status, openWake, openToolCalls, pending }).toEqual({
    status: 'idle',
    openWake: undefined,
    openToolCalls: [],
    pending: [],
  });
  const events = await logOf(runtime, sessionId);
  expect(ofType(events, 'learning.captured')).toHaveLength(2);
  return {
    wrong: await complaintsAbout(runtime, home, sessionId),
    promotions: ofType(events, 'memory.promoted').length,
    refusals: ofType(events, 'promotion.refused').length,
  };
}

/** Where it learns. */
const secondHalf = (points: readonly number[]): readonly number[] => points.slice(Math.floor(points.length / 2));

describe('a process that is killed while a session learns', () => {
  it(
    'in place of any operation, leaves what the next wake keeps once, and promotes once or refuses',
    { timeout: 1_800_000 },
    async () => {
      const { operations, isDone } = await inCopy(async (home) => {
        const life = await live(home);
        // Undisturbed, it is promoted.
        expect(await afterwards(home)).toEqual({ wrong: [], promotions: 1, refusals: 0 });
        return life;
      });
      expect(isDone).toBe(true);
      expect(PLACES.filter((place) => !operations.some((operation) => place.test(operation)))).toEqual([]);
      const worth = pointsWorthKilling(operations);
      const isAll = process.env['CRASH_MATRIX'] === 'all';
      const points = isAll ? worth : evenly(secondHalf(worth), POINTS_OF_A_SLICE);
      const matrix = points.values();
      let kills = 0;
      const work = async (): Promise<void> => {
        for (const crashAt of matrix) {
          await inCopy(async (home) => {
            const death = await live(home, crashAt);
            // What runs at once comes in any order, and may be a few operations less.
            kills += death.isDone ? 0 : 1;
            const { wrong } = await afterwards(home).catch((error: unknown) => {
              throw new Error(`after a crash in place of operation ${crashAt} (${death.operations.at(-1)})`, {
                cause: error,
              });
            });
            expect({ crashAt, at: death.operations.at(-1), wrong }).toEqual({
              crashAt,
              at: death.operations.at(-1),
              wrong: [],
            });
          });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      expect(kills).toBeGreaterThanOrEqual(Math.floor(points.length * 0.8));
    },
  );
});

/** Learnings, versions, the file itself and artifacts: a matrix that went past them would say less than it seems to. */
const PLACES = [
  /learnings\.jsonl$/,
  /^mkdir substrate-versions$/,
  /^link .*\.tmp$/,
  /^rename .*\.tmp$/,
  /^mkdir .wakechart-runtime$/,
];
