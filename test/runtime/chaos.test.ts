/**
 * Chaos: workers and senders over one home, as processes of their own, that are killed, stopped and started again at random; then
 * everything is left to come to rest, and nothing may be lost, doubled or stuck.
 *
 * `CHAOS_SECONDS=60 CHAOS_SEED=1` makes it longer, and draws the same numbers again; what the system makes of them differs each time.
 * `CHAOS_KEEP=DIR` keeps the home of a run that failed there.
 */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { HINT_GRACE_MS } from '../../src/machines/session/worker-rules.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { program, run } from '../adapters/cli/command-line.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { seededRandom } from '../fixtures/processes/chaos-runtime.mjs';
import { effectsOf, expectAtRest, expectEverythingOnce, expectIndexOf, expectNothingLost, readLedger, readSessions } from './chaos-checks.ts';
import { Player, makeTrouble } from './chaos-troupe.ts';

const DIST = new URL('../../dist/', import.meta.url).href;
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/processes/${name}`, import.meta.url));

const DURATION_MS = Number(process.env['CHAOS_SECONDS'] ?? 6) * 1_000;
const SEED = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);

/** Far below how long a worker is stopped at most. */
const LEASE_MS = 300;
const SESSIONS = 5;
const SCRIPT_STEPS = 2_000;
/** Otherwise a run would say little. */
const ENOUGH_RECEIPTS = 40;
const ENOUGH_EFFECTS = 10;
/** How often whatever is left to do is looked for, once the trouble is over. */
const DRAIN_ROUNDS = 40;

const command = (token: string, more = ''): object => ({ name: 'shell_run', input: { command: `echo ${token} >> effects${more}` } });
const queues = (delaySeconds: number): object => ({ outcome: 'sleep', summary: 'More to come.', queuedWakes: [{ reason: 'more', delaySeconds }] });

/** Each step with tokens of its own, so that each effect can be told from every other one. */
const stepAt = (index: number): object => {
  if (index % 23 === 11) return { toolCalls: [{ name: 'ask_human', input: { question: `Which one, in step ${index}?` } }] };
  switch (index % 8) {
    case 0:
      return { text: 'Later.', directive: queues(1) };
    case 1:
      return { text: 'One.', toolCalls: [command(`s${index}`)] };
    case 2:
      return { text: 'Two.', toolCalls: [command(`s${index}a`), command(`s${index}b`, '; sleep 0.1')] };
    case 4:
      return { text: 'Slowly.', delayMs: 40, toolCalls: [command(`s${index}`, '; sleep 0.3')] };
    case 6:
      return { text: 'At once.', directive: queues(0) };
    default:
      return { text: `Step ${index}.` };
  }
};

let home: TemporaryHome;
let players: Player[] = [];

beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(players.splice(0).map((player) => player.end('SIGKILL')));
  await home.remove();
});

const ledgerOf = (): string => join(home.path, 'ledger');
const temporaryOf = (): string => join(home.path, 'temporary');

async function makeSessions(): Promise<string[]> {
  for (const folder of [ledgerOf(), temporaryOf()]) await mkdir(folder, { recursive: true });
  await using runtime = await createNodeRuntime({ home: home.path });
  await runtime.agents.create({ agentId: 'player', source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' } });
  const steps = Array.from({ length: SCRIPT_STEPS }, (_, index) => stepAt(index));
  await writeFile(join(home.path, 'agents/player/play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  const sessionIds: string[] = [];
  while (sessionIds.length < SESSIONS) sessionIds.push((await runtime.sessions.create({ agentId: 'player' })).sessionId);
  return sessionIds;
}

function castOf(sessionIds: readonly string[]): Player[] {
  const place = { dist: DIST, home: home.path, leaseMs: LEASE_MS };
  const sender = (name: string, loops: readonly number[]): Player =>
    new Player(name, [fixture('chaos-sender.mjs'), JSON.stringify({ ...place, ledger: ledgerOf(), seed: SEED, sessionIds, loops })], temporaryOf());
  return [
    new Player('the worker of the command line', [program, 'worker', '--json', '--home', home.path], temporaryOf()),
    new Player('the impatient worker', [fixture('chaos-worker.mjs'), JSON.stringify(place)], temporaryOf()),
    sender('the first sender', [0, 1, 2, 3]),
    sender('the second sender', [4, 5, 6, 7]),
  ];
}

async function isEnough(sessionIds: readonly string[]): Promise<boolean> {
  const effects = await Promise.all(sessionIds.map((sessionId) => effectsOf(home.path, { sessionId, agentId: 'player' })));
  const receipts = (await readLedger(ledgerOf())).filter(({ receipt }) => receipt !== undefined);
  return receipts.length >= ENOUGH_RECEIPTS && effects.flat().length >= ENOUGH_EFFECTS;
}

const isAtRest = ({ status, pending, pendingActions, queuedWakes, openWake, parked }: SessionState): boolean =>
  status === 'idle' && pending.length + pendingActions.length + queuedWakes.length === 0 && openWake === undefined && parked === undefined;

/** One worker, again and again, until nothing is left: it answers what is asked, and wakes what is parked, as a person would. */
async function drain(): Promise<void> {
  for (let round = 1; ; round += 1) {
    const { code, stdout, stderr } = await run(['worker', '--until-idle', '--json', '--home', home.path]);
    expect({ code, stderr }, `worker: ${stdout}`).toMatchObject({ code: 0 });
    await using runtime = await createNodeRuntime({ home: home.path, reconcileOnStart: false });
    const left = (await runtime.sessions.list()).filter((state) => !isAtRest(state));
    if (left.length === 0) return;
    if (round === DRAIN_ROUNDS) throw new Error(`still not at rest: ${JSON.stringify(left)}`);
    for (const { sessionId, pendingActions, parked } of left) {
      for (const { requestId } of pendingActions) await runtime.sessions.send(sessionId, { type: 'user.answer', requestId, response: `answer to ${requestId}` });
      if (parked !== undefined) await runtime.wake(sessionId);
    }
    await pause(nextDueMs(left));
  }
}

function nextDueMs(left: readonly SessionState[]): number {
  const times = left.flatMap(({ queuedWakes }) => queuedWakes.map(({ dueAt }) => Date.parse(dueAt)));
  return Math.max(0, Math.min(1_000, ...times.map((time) => time - Date.now())));
}

/** A worker that lives later: hints whose sender was killed before it wrote are given up by then. */
async function workLater(): Promise<void> {
  const clock = createSystemClock();
  await using runtime = await createNodeRuntime({ home: home.path, clock: { ...clock, now: () => clock.now() + 2 * HINT_GRACE_MS } });
  const { counts } = await runtime.startWorker({ untilIdle: true }).ended;
  expect(counts).toMatchObject({ failed: 0, succeeded: 0 });
}

async function doctorFindings(): Promise<string[]> {
  const { stdout } = await run(['doctor', '--json', '--home', home.path]);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly { readonly severity: string; readonly where: string; readonly what: string }[] };
  return findings.filter(({ severity }) => severity === 'problem').map(({ where, what }) => `${where}: ${what}`);
}

describe('workers and senders that are killed and stopped at random', () => {
  it(`lose nothing, do nothing twice and leave nobody stuck (seed ${SEED})`, { timeout: DURATION_MS * 6 + 180_000 }, async () => {
    const sessionIds = await makeSessions();
    const cast = castOf(sessionIds);
    players = cast;
    for (const player of cast) player.start();
    const trouble = await makeTrouble({ players: cast, random: seededRandom(SEED), durationMs: DURATION_MS, isEnough: () => isEnough(sessionIds), pause });
    await Promise.all(cast.map((player) => player.end(player.name.includes('sender') ? 'SIGTERM' : 'SIGKILL')));
    try {
      expect(cast.flatMap(({ unexpected, complaints }) => (unexpected.length === 0 ? [] : [...unexpected, complaints]))).toEqual([]);
      await drain();
      await workLater();
      const sessions = await readSessions(home.path);
      const ledger = await readLedger(ledgerOf());
      expect(sessions.map(({ state }) => state.sessionId).toSorted()).toEqual(sessionIds.toSorted());
      expectNothingLost(ledger, sessions);
      for (const session of sessions) {
        expectEverythingOnce(session);
        expectAtRest(session);
      }
      await expectIndexOf(home.path, sessions);
      expect(await doctorFindings()).toEqual([]);
    } catch (error) {
      if (process.env['CHAOS_KEEP'] !== undefined) await cp(home.path, join(process.env['CHAOS_KEEP'], `${SEED}`), { recursive: true, filter: (path) => !path.endsWith('.sock') });
      throw new Error(`seed ${SEED}\n${trouble.join('\n')}\n${cast.map(({ name, complaints }) => `${name}: ${complaints}`).join('\n')}`, { cause: error });
    }
  });
});
