/**
 * Those who follow something. Joining and leaving cost the same at ten and at a hundred thousand; telling them all
 * visits each once.
 */

export class Followers<Follower> {
  readonly #followers = new Set<Follower>();
  /**
   * Rebuilt when followers are told after one joined or left, and never edited: a telling under way keeps the list it
   * began with.
   */
  #list: readonly Follower[] | undefined = undefined;

  get size(): number {
    return this.#followers.size;
  }

  get all(): readonly Follower[] {
    this.#list ??= [...this.#followers];
    return this.#list;
  }

  /** All of them leave. */
  clear(): void {
    this.#followers.clear();
    this.#list = undefined;
  }

  /** @returns leaves; idempotent */
  add(follower: Follower): () => void {
    this.#followers.add(follower);
    this.#list = undefined;
    return () => {
      if (this.#followers.delete(follower)) this.#list = undefined;
    };
  }
}
