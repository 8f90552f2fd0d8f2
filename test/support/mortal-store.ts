/**
 * One process's view of a store that others share: it dies at a chosen change, before or after the store has made it,
 * and nothing that it does from then on reaches the store. What it held is free, as when a process is killed.
 */
import type { ActivationIndex } from '../../src/actors/session/activation-index.ts';
import type {
  AppendOptions,
  AppendResult,
  EventStore,
  NewSessionEvents,
  SessionIdentity,
  WakeClaim,
  WakeRight,
} from '../../src/actors/session/event-store.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';

export interface Death {
  /** The change at which it dies, from 1. */
  readonly at: number;
  /** Whether the store still makes that change. */
  readonly stored: boolean;
}

export class MortalStore implements EventStore {
  readonly durability;
  readonly activations: ActivationIndex;
  readonly #inner: EventStore;
  readonly #death: Death | undefined;
  readonly #rights = new Set<WakeRight>();
  #isDead = false;
  /** What it was asked to change, in order. */
  readonly changes: string[] = [];

  constructor(inner: EventStore, death?: Death) {
    this.#inner = inner;
    this.#death = death;
    this.durability = inner.durability;
    this.activations = new Proxy(inner.activations, {
      get: (index, name) => {
        const value: unknown = Reflect.get(index, name);
        if (typeof value !== 'function') return value;
        return (...given: readonly unknown[]): unknown =>
          this.#isDead ? Promise.reject(killed()) : Reflect.apply(value as () => unknown, index, given);
      },
    });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Kills it between two changes. */
  async kill(): Promise<void> {
    this.#isDead = true;
    for (const right of this.#rights) await right.release();
  }

  create(identity: SessionIdentity, events: NewSessionEvents): Promise<AppendResult> {
    return this.#change(`create ${events.map(({ type }) => type).join(' ')}`, () =>
      this.#inner.create(identity, events),
    );
  }

  createFromRecords = (
    ...given: Parameters<EventStore['createFromRecords']>
  ): ReturnType<EventStore['createFromRecords']> =>
    this.#change(`create from ${given[1].length} records`, () => this.#inner.createFromRecords(...given));

  append(sessionId: string, events: NewSessionEvents, options?: AppendOptions): Promise<AppendResult> {
    return this.#change(`append ${events.map(({ type }) => type).join(' ')}`, () =>
      this.#inner.append(sessionId, events, options),
    );
  }

  delete(sessionId: string, claim: WakeClaim): Promise<void> {
    return this.#change('delete', () => this.#inner.delete(sessionId, claim));
  }

  async acquireWakeRight(sessionId: string, claim: WakeClaim): Promise<WakeRight> {
    const right = await this.#alive(() => this.#inner.acquireWakeRight(sessionId, claim));
    this.#rights.add(right);
    const release = async (): Promise<void> => {
      this.#rights.delete(right);
      await right.release();
    };
    return { epoch: right.epoch, lost: right.lost, release };
  }

  identify = (...given: Parameters<EventStore['identify']>): ReturnType<EventStore['identify']> =>
    this.#alive(() => this.#inner.identify(...given));
  findByKey = (...given: Parameters<EventStore['findByKey']>): ReturnType<EventStore['findByKey']> =>
    this.#alive(() => this.#inner.findByKey(...given));
  findById = (...given: Parameters<EventStore['findById']>): ReturnType<EventStore['findById']> =>
    this.#alive(() => this.#inner.findById(...given));
  read = (...given: Parameters<EventStore['read']>): ReturnType<EventStore['read']> =>
    this.#alive(() => this.#inner.read(...given));
  records = (...given: Parameters<EventStore['records']>): ReturnType<EventStore['records']> =>
    this.#alive(() => this.#inner.records(...given));
  head = (...given: Parameters<EventStore['head']>): ReturnType<EventStore['head']> =>
    this.#alive(() => this.#inner.head(...given));
  list = (...given: Parameters<EventStore['list']>): ReturnType<EventStore['list']> =>
    this.#alive(() => this.#inner.list(...given));
  checkpoint = (...given: Parameters<EventStore['checkpoint']>): ReturnType<EventStore['checkpoint']> =>
    this.#alive(() => this.#inner.checkpoint(...given));
  saveView = (state: SessionState): Promise<void> => this.#alive(() => this.#inner.saveView(state));
  watch = (...given: Parameters<EventStore['watch']>): ReturnType<EventStore['watch']> => this.#inner.watch(...given);
  isWakeRightHeld = (...given: Parameters<EventStore['isWakeRightHeld']>): ReturnType<EventStore['isWakeRightHeld']> =>
    this.#alive(() => this.#inner.isWakeRightHeld(...given));
  wakeRightFreed = (...given: Parameters<EventStore['wakeRightFreed']>): ReturnType<EventStore['wakeRightFreed']> =>
    this.#alive(() => this.#inner.wakeRightFreed(...given));

  /** Others may still use what it stands on. */
  async close(): Promise<void> {
    await this.kill();
  }

  async #change<Result>(what: string, make: () => Promise<Result>): Promise<Result> {
    if (this.#isDead) throw killed();
    this.changes.push(what);
    if (this.changes.length !== this.#death?.at) return make();
    if (this.#death.stored) await make();
    await this.kill();
    throw killed();
  }

  async #alive<Result>(act: () => Promise<Result>): Promise<Result> {
    if (this.#isDead) throw killed();
    return act();
  }
}

function killed(): Error {
  return new Error('the process was killed');
}
