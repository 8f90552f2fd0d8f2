/**
 * Sessions for a chaos run, and the processes that work on them. When the trouble is over it brings everything to rest,
 * and checks whether anything is lost, doubled or stuck.
 */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { HINT_GRACE_MS } from '../../src/machines/session/worker-rules.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { program, run } from '../cli/command-line.ts';
import type { Setup, Place, StoreUnderTest } from '../support/store-under-test.ts';
import {
  effectsOf,
  expectAtRest,
  expectEverythingOnce,
  expectIndexOf,
  expectNothingLost,
  readLedger,
  readSessions,
} from './chaos-checks.ts';
import { Player } from './chaos-troupe.ts';

const DIST = new URL('../../dist/', import.meta.url).href;
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/processes/${name}`, import.meta.url));

const SESSIONS = 5;
const SCRIPT_STEPS = 2_000;
/** Otherwise a run would say little. */
const ENOUGH_RECEIPTS = 40;
const ENOUGH_EFFECTS = 10;
/** How often whatever is left to do is searched for, once the trouble is over. */
const DRAIN_ROUNDS = 40;

const command = (token: string, more = ''): object => ({
  name: 'shell_run',
  input: { command: `echo ${token} >> effects${more}` },
});
const queues = (delaySeconds: number): object => ({
  outcome: 'sleep',
  summary: 'More to come.',
  queuedWakes: [{ reason: 'more', delaySeconds }],
});

/** Each step with tokens of its own, so that each effect can be told from every other one. */
const stepAt = (index: number): object => {
  if (index % 23 === 11)
    return { toolCalls: [{ name: 'ask_human', input: { question: `Which one, in step ${index}?` } }] };
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

const isAtRest = ({ status, pending, pendingActions, queuedWakes, openWake, parked }: SessionState): boolean =>
  status === 'idle' &&
  pending.length + pendingActions.length + queuedWakes.length === 0 &&
  openWake === undefined &&
  parked === undefined;

export interface ChaosStageOptions {
  readonly store: StoreUnderTest;
  /** Goes with the stage. */
  readonly setup: Setup;
  /** Of the workers and senders that are made here. */
  readonly leaseMs: number;
  readonly seed: number;
}

/** What one process is told that others are not. */
export interface Role {
  /** Where its store is, if it goes there by a way of its own. */
  readonly store?: Place['store'];
  /** By how much its clock is wrong. */
  readonly aheadMs?: number;
  /** Options of a store in a database. */
  readonly postgres?: object;
  /** Folder URL of the compiled package, if it is another program. */
  readonly dist?: string;
}

export class ChaosStage {
  readonly sessionIds: readonly string[];
  readonly #options: ChaosStageOptions;
  readonly #players: Player[] = [];

  private constructor(options: ChaosStageOptions, sessionIds: readonly string[]) {
    this.#options = options;
    this.sessionIds = sessionIds;
  }

  static async open(options: ChaosStageOptions): Promise<ChaosStage> {
    const { place } = options.setup;
    for (const folder of [ledgerOf(place), temporaryOf(place)]) await mkdir(folder, { recursive: true });
    await using runtime = await createNodeRuntime(place);
    await runtime.agents.create({
      agentId: 'player',
      source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
    });
    const steps = Array.from({ length: SCRIPT_STEPS }, (_, index) => stepAt(index));
    await writeFile(
      join(place.home, 'agents/player/play.json'),
      JSON.stringify({ format: 'wakechart-script/1', steps }),
    );
    const sessionIds: string[] = [];
    while (sessionIds.length < SESSIONS)
      sessionIds.push((await runtime.sessions.create({ agentId: 'player' })).sessionId);
    return new ChaosStage(options, sessionIds);
  }

  get place(): Place {
    return this.#options.setup.place;
  }

  get players(): readonly Player[] {
    return this.#players;
  }

  /** The worker of the command line. */
  commandLineWorker(name = 'the worker of the command line'): Player {
    return this.#cast(name, [program, 'worker', '--json', ...wordsOf(this.#options.setup.place)]);
  }

  worker(name: string, role: Role = {}): Player {
    return this.#cast(name, [fixture('chaos-worker.mjs'), JSON.stringify(this.#told(role))]);
  }

  /** @param loops what it does at once, each under a number of its own among all senders */
  sender(name: string, loops: readonly number[], role: Role = {}): Player {
    const { setup, seed } = this.#options;
    return this.#cast(name, [
      fixture('chaos-sender.mjs'),
      JSON.stringify({ ...this.#told(role), ledger: ledgerOf(setup.place), seed, sessionIds: this.sessionIds, loops }),
    ]);
  }

  #told(role: Role): object {
    const { setup, leaseMs } = this.#options;
    return { dist: DIST, leaseMs, ...setup.place, ...role };
  }

  #cast(name: string, words: readonly string[]): Player {
    const player = new Player(name, words, temporaryOf(this.#options.setup.place));
    this.#players.push(player);
    return player;
  }

  /** Whether so much was done that a run says something. */
  async isEnough(): Promise<boolean> {
    return (await this.receipts()) >= ENOUGH_RECEIPTS && (await this.effects()) >= ENOUGH_EFFECTS;
  }

  /** How many things that were sent have been acknowledged. */
  async receipts(): Promise<number> {
    return (await readLedger(ledgerOf(this.#options.setup.place))).filter(({ receipt }) => receipt !== undefined)
      .length;
  }

  /** How many effects tools have had. */
  async effects(): Promise<number> {
    const { home } = this.#options.setup.place;
    const effects = await Promise.all(
      this.sessionIds.map((sessionId) => effectsOf(home, { sessionId, agentId: 'player' })),
    );
    return effects.flat().length;
  }

  /**
   * The trouble is over: everybody stops, what is left is done, and everything is scanned.
   * @param trouble what was done, for who reads of a failure
   */
  async expectWhole(trouble: readonly string[]): Promise<void> {
    const { store, setup, seed } = this.#options;
    const { place } = setup;
    const players = this.#players;
    await Promise.all(players.map((player) => player.end(player.name.includes('sender') ? 'SIGTERM' : 'SIGKILL')));
    try {
      expect(
        players.flatMap(({ unexpected, complaints }) => (unexpected.length === 0 ? [] : [...unexpected, complaints])),
      ).toEqual([]);
      await store.forgetTheDead(place);
      await drain(place);
      await workLater(place);
      const sessions = await readSessions(place);
      const ledger = await readLedger(ledgerOf(place));
      expect(sessions.map(({ state }) => state.sessionId).toSorted()).toEqual(this.sessionIds.toSorted());
      expectNothingLost(ledger, sessions);
      for (const session of sessions) {
        expectEverythingOnce(session);
        expectAtRest(session);
      }
      await expectIndexOf(store, place, sessions);
      expect(await doctorFindings(place)).toEqual([]);
    } catch (error) {
      if (process.env['CHAOS_KEEP'] !== undefined) await keep(place, join(process.env['CHAOS_KEEP'], `${seed}`));
      throw new Error(
        `seed ${seed}\n${trouble.join('\n')}\n${players.map(({ name, complaints }) => `${name}: ${complaints}`).join('\n')}`,
        { cause: error },
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#players.splice(0).map((player) => player.end('SIGKILL')));
    await this.#options.setup.remove();
  }
}

/** The home, and the logs, which the store may have elsewhere. */
async function keep(place: Place, folder: string): Promise<void> {
  await cp(place.home, folder, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await writeFile(join(folder, 'sessions.json'), JSON.stringify(await readSessions(place)));
}

const ledgerOf = ({ home }: Place): string => join(home, 'ledger');
const temporaryOf = ({ home }: Place): string => join(home, 'temporary');

/** The same place for the command line. */
function wordsOf({ home, store }: Place): string[] {
  return ['--home', home, ...(store === undefined ? [] : ['--store', store.postgres])];
}

/**
 * One worker, again and again, until nothing is left: it answers what is asked, and wakes what is parked, as a person
 * would.
 */
async function drain(place: Place): Promise<void> {
  for (let round = 1; ; round += 1) {
    const { code, stdout, stderr } = await run(['worker', '--until-idle', '--json', ...wordsOf(place)]);
    expect({ code, stderr }, `worker: ${stdout}`).toMatchObject({ code: 0 });
    await using runtime = await createNodeRuntime({ ...place, reconcileOnStart: false });
    const left = (await runtime.sessions.list()).filter((state) => !isAtRest(state));
    if (left.length === 0) return;
    if (round === DRAIN_ROUNDS) throw new Error(`still not at rest: ${JSON.stringify(left)}`);
    for (const { sessionId, pendingActions, parked } of left) {
      for (const { requestId } of pendingActions)
        await runtime.sessions.send(sessionId, { type: 'user.answer', requestId, response: `answer to ${requestId}` });
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
async function workLater(place: Place): Promise<void> {
  const clock = createSystemClock();
  await using runtime = await createNodeRuntime({
    ...place,
    clock: { ...clock, now: () => clock.now() + 2 * HINT_GRACE_MS },
  });
  const { counts } = await runtime.startWorker({ untilIdle: true }).ended;
  expect(counts).toMatchObject({ failed: 0, succeeded: 0 });
}

async function doctorFindings(place: Place): Promise<string[]> {
  const { stdout } = await run(['doctor', '--json', ...wordsOf(place)]);
  const { findings } = JSON.parse(stdout) as {
    readonly findings: readonly { readonly severity: string; readonly where: string; readonly what: string }[];
  };
  return findings.filter(({ severity }) => severity === 'problem').map(({ where, what }) => `${where}: ${what}`);
}
