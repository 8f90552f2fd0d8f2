/** What costs more to be told: processes and changes. Asked for only while they are shown. */
import { signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { ShownChanges, ShownProcesses } from '../../../actors/inspection/shown-answers.ts';
import { reasonOf, server } from '../model/transport.ts';

/** `because`: why it could not be told. What was told before stays. */
export interface Told<Value> {
  readonly value?: Value;
  readonly because?: string;
}

export type SideName = 'processes' | 'changes';

export class SideViews {
  readonly #sessionId: string;
  readonly #processes = signal<Told<ShownProcesses>>({});
  readonly #changes = signal<Told<readonly ShownChanges[]>>({});
  readonly #checked = new Set<SideName>();
  readonly #busy = new Set<SideName>();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  get processes(): ReadonlySignal<Told<ShownProcesses>> {
    return this.#processes;
  }

  get changes(): ReadonlySignal<Told<readonly ShownChanges[]>> {
    return this.#changes;
  }

  /** From now on it is kept up to date. @returns leaves */
  check(name: SideName): () => void {
    this.#checked.add(name);
    void this.#ask(name);
    return () => void this.#checked.delete(name);
  }

  async refresh(): Promise<void> {
    await Promise.all([...this.#checked].map((name) => this.#ask(name)));
  }

  #ask(name: SideName): Promise<void> {
    return name === 'processes'
      ? this.#bringUp(name, this.#processes, server.processes)
      : this.#bringUp(name, this.#changes, server.changes);
  }

  async #bringUp<Value>(
    name: SideName,
    to: Signal<Told<Value>>,
    ask: (sessionId: string) => Promise<Value>,
  ): Promise<void> {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    try {
      const value = await ask(this.#sessionId);
      // The same again is no reason to draw it again.
      if (JSON.stringify(value) !== JSON.stringify(to.value.value) || to.value.because !== undefined)
        to.value = { value };
    } catch (error) {
      to.value = { ...to.value, because: reasonOf(error) };
    } finally {
      this.#busy.delete(name);
    }
  }
}
