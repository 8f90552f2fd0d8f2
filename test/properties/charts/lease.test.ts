/**
 * The lease of a session, on its way from one who asks for it: the real one, over real sockets, among others who
 * answer, contend, say nothing, or go past it.
 */
import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { StateValue } from 'xstate';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { WakeClaim, WakeRight } from '../../../src/actors/session/event-store.ts';
import { encodeMessage } from '../../../src/adapters/files/lease-message.ts';
import { acquireLease } from '../../../src/adapters/files/lease.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { leaseLifecycle } from '../../../src/machines/wake/lease-machine.ts';
import type { LeasePhase } from '../../../src/machines/wake/lease-machine.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { watchChart } from '../../support/chart-model-watch.ts';
import { SESSION_ID } from '../../support/session-events.ts';
import { until } from '../../support/session-setup.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const LEASE_MS = 15_000;
const FRESH: WakeClaim = { epoch: 0, isOpen: false };
/** The wake of the log has not ended, as far as the log knows. */
const OPEN: WakeClaim = { epoch: 1, isOpen: true };

let home: TemporaryHome;
let places = 0;
beforeAll(async () => {
  home = await temporaryHome();
});
afterAll(() => home.remove());

interface Facts {
  hasAsked: boolean;
  /** Who stands in its way: the wake of the log, one below it that contends, or one above it. */
  waitsFor: 'log' | 'below' | 'above' | undefined;
}

/** Somebody else under a number, who says what it is told to say. */
class Stranger {
  readonly epoch: number;
  readonly #server: Server;
  readonly #askers = new Set<Socket>();
  phase: LeasePhase | 'silent';
  asked = 0;

  private constructor(epoch: number, phase: LeasePhase | 'silent') {
    this.epoch = epoch;
    this.phase = phase;
    this.#server = createServer((connection) => {
      this.#askers.add(connection);
      connection.on('error', () => undefined);
      connection.on('close', () => this.#askers.delete(connection));
      connection.on('data', () => {
        this.asked += 1;
        this.#say(connection);
      });
    });
  }

  static async listen(path: string, epoch: number, phase: LeasePhase | 'silent'): Promise<Stranger> {
    const stranger = new Stranger(epoch, phase);
    stranger.#server.listen(path);
    await once(stranger.#server, 'listening');
    return stranger;
  }

  speak(phase: LeasePhase): void {
    this.phase = phase;
    for (const asker of this.#askers) this.#say(asker);
  }

  #say(asker: Socket): void {
    if (this.phase !== 'silent' && asker.writable)
      asker.write(encodeMessage({ type: 'alive', phase: this.phase, epoch: this.epoch, pid: 7, host: 'elsewhere' }));
  }

  async close(): Promise<void> {
    for (const asker of this.#askers) asker.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

class Real implements RealSubject {
  readonly #watch = watchChart(leaseLifecycle);
  readonly #clock = createSimulatedClock();
  readonly #directory = join(home.path, String((places += 1)));
  readonly #strangers: Stranger[] = [];
  #acquiring: Promise<void> | undefined;
  right: WakeRight | undefined;
  refusal: string | undefined;

  async open(): Promise<this> {
    await mkdir(this.#folder, { recursive: true });
    return this;
  }

  get #folder(): string {
    return join(this.#directory, 'runtime', 'lease');
  }

  state(): StateValue {
    return this.#watch.lives[0]?.value ?? leaseLifecycle.initial.value;
  }

  taken(): readonly string[] {
    return this.#watch.lives[0]?.taken ?? [];
  }

  can(event: string): boolean | undefined {
    return this.#watch.lives[0]?.can(event);
  }

  async stranger(epoch: number, phase: LeasePhase | 'silent'): Promise<Stranger> {
    const stranger = await Stranger.listen(join(this.#folder, `${epoch}.sock`), epoch, phase);
    this.#strangers.push(stranger);
    return stranger;
  }

  acquire(claim: WakeClaim): void {
    const acquired = acquireLease(
      { sessionId: SESSION_ID, directory: this.#directory, clock: this.#clock, leaseMs: LEASE_MS },
      claim,
    );
    this.#acquiring = acquired.then(
      (right) => void (this.right = right),
      (error: unknown) => void (this.refusal = RuntimeError.is(error) ? error.code : String(error)),
    );
  }

  get isSettled(): boolean {
    return this.right !== undefined || this.refusal !== undefined;
  }

  speak(phase: LeasePhase): void {
    this.#strangers.at(-1)?.speak(phase);
  }

  /** Until the silence has lasted long enough for something to come of it. */
  async passSilence(): Promise<void> {
    for (let part = 0; part < 20 && !this.isSettled; part += 1) {
      await this.#clock.advance(LEASE_MS / 5);
      await turns(10);
    }
  }

  async goPast(by = 99): Promise<void> {
    const [own] = (await readdir(this.#folder)).filter(
      (name) => !this.#strangers.some(({ epoch }) => name === `${epoch}.sock`),
    );
    const connection = connect(join(this.#folder, own ?? ''));
    connection.on('error', () => undefined);
    connection.end(encodeMessage({ type: 'passed', by }));
    await once(connection, 'close');
    await turns(10);
  }

  async release(): Promise<void> {
    await this.right?.release();
  }

  async close(): Promise<void> {
    for (const stranger of this.#strangers) stranger.speak('held');
    await this.passSilence();
    await this.#acquiring;
    await this.release();
    for (const stranger of this.#strangers) await stranger.close();
    this.#watch.end();
    expect(this.#clock.pendingTimers).toBe(0);
    await rm(this.#directory, { recursive: true });
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

type Model = ChartModel<Facts>;

const isNew = ({ facts }: Model): boolean => !facts.hasAsked;
const waitsFor =
  (who: Facts['waitsFor']) =>
  ({ facts }: Model): boolean =>
    facts.waitsFor === who;

function asks(model: Model, ...events: readonly string[]): void {
  model.facts.hasAsked = true;
  for (const event of events) model.tell(event);
}

function decided(model: Model, ...events: readonly string[]): void {
  model.facts.waitsFor = undefined;
  for (const event of events) model.tell(event);
}

describe.runIf(process.platform === 'linux')('the lease of a session', () => {
  describeModel<Facts, Real>(
    'one who asks for it',
    {
      chart: leaseLifecycle,
      facts: () => ({ hasAsked: false, waitsFor: undefined }),
      open: () => new Real().open(),
      patience: 3_000,
      agree: async (real, model) => {
        await until(() => real.isSettled || model.facts.waitsFor !== undefined || !model.facts.hasAsked);
        expect(real.right !== undefined).toBe(['held', 'lost', 'released'].some((state) => model.is(state)));
        expect(real.right?.lost.aborted ?? false).toBe(model.taken.includes('held|PASS|0'));
      },
      commands: {
        'nobody is there': {
          isPossible: isNew,
          tells: (model) => asks(model, 'BIND', 'WIN'),
          act: (real) => real.acquire(FRESH),
        },
        'the wake of the log lives': {
          isPossible: isNew,
          tells: (model) => asks(model, 'REFUSE'),
          act: async (real) => {
            await real.stranger(1, 'held');
            real.acquire(OPEN);
          },
        },
        'the wake of the log says nothing': {
          isPossible: isNew,
          tells: (model) => {
            asks(model);
            model.facts.waitsFor = 'log';
          },
          act: async (real) => {
            const stranger = await real.stranger(1, 'silent');
            real.acquire(OPEN);
            await until(() => stranger.asked > 0);
          },
        },
        'somebody contends above it': {
          isPossible: isNew,
          tells: (model) => asks(model, 'BIND', 'REFUSE'),
          act: async (real) => {
            await real.stranger(5, 'contending');
            real.acquire(FRESH);
          },
        },
        'somebody above it says nothing': {
          isPossible: isNew,
          tells: (model) => {
            asks(model, 'BIND');
            model.facts.waitsFor = 'above';
          },
          act: async (real) => {
            const stranger = await real.stranger(5, 'silent');
            real.acquire(FRESH);
            await until(() => stranger.asked > 0);
          },
        },
        'somebody below it contends': {
          isPossible: isNew,
          tells: (model) => {
            asks(model, 'BIND');
            model.facts.waitsFor = 'below';
          },
          act: async (real) => {
            // Its number is free as long as it says so, and then it contends for it.
            const stranger = await real.stranger(1, 'lost');
            const changes = until(() => stranger.asked > 0).then(() => {
              stranger.phase = 'contending';
            });
            real.acquire(FRESH);
            await changes;
            await until(() => stranger.asked > 1);
          },
        },
        'the other says that it has it': {
          isPossible: ({ facts }) => facts.waitsFor !== undefined,
          tells: (model) => decided(model, 'REFUSE'),
          act: (real) => real.speak('held'),
        },
        'the other says that it has lost': {
          isPossible: ({ facts }) => facts.waitsFor !== undefined,
          tells: (model) => decided(model, ...(model.is('seeking') ? ['BIND'] : []), 'WIN'),
          act: (real) => real.speak('lost'),
        },
        'the wake of the log is silent for too long': {
          isPossible: waitsFor('log'),
          tells: (model) => decided(model, 'BIND', 'WIN'),
          act: (real) => real.passSilence(),
        },
        'the one above is silent for too long': {
          isPossible: waitsFor('above'),
          tells: (model) => decided(model, 'STEP_BACK', 'BIND', 'WIN'),
          act: (real) => real.passSilence(),
        },
        'somebody goes past': {
          isPossible: (model) => model.is('held') || (model.is('contending') && model.facts.waitsFor === 'below'),
          // Whom it waits for decides about nothing any more, and is heard all the same.
          tells: (model) => model.tell('PASS'),
          act: (real) => real.goPast(),
        },
        'it lets go': {
          isPossible: (model) => model.is('held') || model.is('lost'),
          tells: (model) => model.tell('RELEASE'),
          act: (real) => real.release(),
        },
      },
    },
    { runs: 12, atMost: 300, maxCommands: 12 },
  );
});
