/**
 * A store in memory that lets a test act in the very moment before something is appended: this is how races are made to
 * happen.
 */
import type { AppendOptions, AppendResult, NewSessionEvents } from '../../src/actors/session/event-store.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { SessionEventType } from '../../src/machines/session/session-event.ts';

export class HookedStore extends MemoryEventStore {
  readonly #hooks: { readonly type: SessionEventType; readonly act: () => Promise<unknown> }[] = [];

  /** Runs `act` once, before the next append that holds an event of this type. */
  before(type: SessionEventType, act: () => Promise<unknown>): void {
    this.#hooks.push({ type, act });
  }

  override async append(sessionId: string, events: NewSessionEvents, options?: AppendOptions): Promise<AppendResult> {
    const index = this.#hooks.findIndex(({ type }) => events.some((event) => event.type === type));
    const [hook] = index === -1 ? [] : this.#hooks.splice(index, 1);
    await hook?.act();
    return super.append(sessionId, events, options);
  }
}
