/** Who waits for news of which session, here and from elsewhere. */
import type { PostgresDatabase } from './postgres-database.ts';

export class SessionWatchers {
  readonly #database: PostgresDatabase;
  readonly #listeners = new Map<string, Set<(head?: number) => void>>();
  /** As seen when it was polled last. */
  readonly #seen = new Map<string, string>();
  #isPolling = false;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  watch(sessionId: string, onChange: (head?: number) => void): () => void {
    const listener = (head?: number): void => onChange(head);
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(sessionId) !== listeners) return;
      this.#listeners.delete(sessionId);
      this.#seen.delete(sessionId);
    };
  }

  /** @param head where the log ended at least, if that is what there is to tell */
  tell(sessionIds: readonly string[], head?: number): void {
    for (const id of sessionIds) for (const listener of this.#listeners.get(id) ?? []) listener(head);
  }

  /** An append of this store, once its caller has the result: it has that many events then. */
  tellAppended(sessionId: string, head: number): void {
    if (!this.#listeners.has(sessionId)) return;
    setImmediate(() => {
      for (const listener of this.#listeners.get(sessionId) ?? []) listener(head);
    });
  }

  /** Checks every session that has a watcher; one check at a time. */
  poll(): void {
    if (this.#listeners.size === 0 || this.#isPolling) return;
    this.#isPolling = true;
    void this.#check()
      .catch(() => undefined)
      .finally(() => {
        this.#isPolling = false;
      });
  }

  async #check(): Promise<void> {
    const { schema } = this.#database;
    const watched = [...this.#listeners.keys()];
    const rows = await this.#database.run<{ readonly id: string; readonly state: string }>(
      `SELECT s.id, s.head || ' ' || coalesce(s.lease_token::text, '') AS state FROM ${schema}.session s WHERE s.id = ANY ($1::uuid[])`,
      [watched],
    );
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    // One that has gone is news too.
    const changed = watched.filter((id) => this.#seen.get(id) !== (states.get(id) ?? 'gone'));
    for (const id of changed) if (this.#listeners.has(id)) this.#seen.set(id, states.get(id) ?? 'gone');
    this.tell(changed);
  }
}
