/** The index of what is due, for the store in memory: nothing is ever lost, and every watcher is in this process. */
import type { Activation } from '../../machines/session/activation.ts';
import { checkActivation } from '../../machines/session/activation.ts';
import { dueSessions } from '../../machines/session/due-sessions.ts';
import type { ActivationIndex, DueActivations, DueQuery } from '../../actors/session/activation-index.ts';

export class MemoryActivations implements ActivationIndex {
  readonly #hints = new Map<string, Activation>();
  readonly #listeners = new Set<() => void>();

  async add(activations: readonly Activation[]): Promise<void> {
    const checked = activations.map(checkActivation);
    for (const activation of checked) this.#hints.set(keyOf(activation), Object.freeze(activation));
    if (checked.length > 0) for (const listener of this.#listeners) listener();
  }

  async remove(activations: readonly Activation[]): Promise<void> {
    for (const activation of activations) this.#hints.delete(keyOf(activation));
  }

  async due({ nowMs, limit, except, agentId }: DueQuery): Promise<DueActivations> {
    const found: Activation[] = [];
    let nextDueAtMs: number | undefined;
    for (const activation of this.#hints.values()) {
      if ((agentId !== undefined && activation.agentId !== agentId) || except?.has(activation.sessionId) === true)
        continue;
      if (activation.dueAtMs <= nowMs) found.push(activation);
      else nextDueAtMs = Math.min(nextDueAtMs ?? Infinity, activation.dueAtMs);
    }
    return { due: dueSessions(found, limit), nextDueAtMs };
  }

  watch(onChange: () => void): () => void {
    const listener = (): void => onChange();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async isSuspect(): Promise<boolean> {
    return false;
  }

  async rebuilt(activations: AsyncIterable<Activation>): Promise<void> {
    for await (const activation of activations) await this.add([activation]);
  }
}

function keyOf({ sessionId, agentId, causeId, kind, dueAtMs, priority }: Activation): string {
  return `${sessionId} ${agentId} ${causeId} ${kind} ${dueAtMs} ${priority}`;
}
