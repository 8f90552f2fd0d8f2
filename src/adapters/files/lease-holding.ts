/** This process's side of one lease: the number it took, what it answers under it, and the right that comes of it. */
import { hostname } from 'node:os';
import { RuntimeError } from '../../machines/errors.ts';
import { leaseLifecycle, leasePhaseOf } from '../../machines/wake/lease-machine.ts';
import type { LeaseChartEvent, LeaseState } from '../../machines/wake/lease-machine.ts';
import { ChartedLife } from '../../actors/charted-life.ts';
import type { WakeRight } from '../../actors/session/event-store.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import type { LeaseFolder } from './lease-folder.ts';
import { LeaseSocket } from './lease-socket.ts';
import type { OnFollow } from './lease-socket.ts';
import type { LeaseAnswer } from './lease-message.ts';

const HOST = hostname();

export interface LeaseHoldingOptions {
  readonly sessionId: string;
  readonly folder: LeaseFolder;
  readonly onFollow?: OnFollow | undefined;
}

export class LeaseHolding implements WakeRight {
  readonly #sessionId: string;
  readonly #folder: LeaseFolder;
  readonly #onFollow: OnFollow | undefined;
  readonly #lost = new AbortController();
  readonly #life: ChartedLife<LeaseState, LeaseChartEvent>;
  #socket: LeaseSocket | undefined;
  #epoch = 0;
  #ending: Promise<void> | undefined;

  constructor({ sessionId, folder, onFollow }: LeaseHoldingOptions) {
    this.#sessionId = sessionId;
    this.#onFollow = onFollow;
    this.#life = new ChartedLife({ lifecycle: leaseLifecycle, id: `lease_${sessionId}` });
    this.#folder = folder;
  }

  /** The number that is taken, or was last. */
  get epoch(): number {
    return this.#epoch;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Takes a number and answers under it from now on. False when a process has it, dead or alive. @throws the system's
   * error
   */
  async bind(epoch: number): Promise<boolean> {
    try {
      const address = this.#folder.addressOf(epoch);
      this.#socket = await LeaseSocket.listen({
        address,
        answer: () => this.#answer(),
        onPassed: (by) => this.#pass(by),
        onFollow: this.#onFollow,
      });
      this.#epoch = epoch;
      this.#life.move('BIND');
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EADDRINUSE') return false;
      throw error;
    }
  }

  /** Gives the number back, to take a higher one. */
  async stepBack(): Promise<void> {
    this.#life.move('STEP_BACK');
    await this.#socket?.close();
  }

  /** From now on every process that asks is told that the right is held. False when one went past meanwhile. */
  win(): boolean {
    const hasWon = this.#life.move('WIN');
    if (hasWon) this.#socket?.announce();
    return hasWon;
  }

  /** Gives up before the right was held. Idempotent. */
  async refuse(): Promise<void> {
    this.#life.move('REFUSE');
    await this.#close();
  }

  async release(): Promise<void> {
    this.#life.move('RELEASE');
    await this.#close();
  }

  #close(): Promise<void> {
    this.#ending ??= (async () => {
      await this.#socket?.close();
      await this.#folder.close();
    })();
    return this.#ending;
  }

  #pass(by: number): void {
    if (by <= this.#epoch || !this.#life.move('PASS')) return;
    this.#socket?.announce();
    this.#lost.abort(
      new RuntimeError(
        'WAKE_SUPERSEDED',
        `the wake of session ${this.#sessionId} under epoch ${this.#epoch} gave no sign of life, and epoch ${by} has taken over`,
        {
          category: 'conflict',
          hint: 'Leave the session to the other wake; nothing that this one still writes counts.',
          details: { sessionId: this.#sessionId, epoch: this.#epoch, by },
        },
      ),
    );
  }

  #answer(): LeaseAnswer {
    return { type: 'alive', phase: leasePhaseOf(this.#life.value), epoch: this.#epoch, pid: process.pid, host: HOST };
  }
}
