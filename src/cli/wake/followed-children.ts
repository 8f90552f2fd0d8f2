/** Follows the sessions that answer calls of others, theirs among them, while a wake lasts. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sessions } from '../../actors/session/sessions.ts';
import type { SessionEvents } from '../../actors/session/session-events.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';

export interface FollowedChildrenOptions {
  readonly sessions: Sessions;
  readonly onEvent: (event: SessionEvent) => Promise<void>;
}

interface Followed {
  readonly sessionId: string;
  /** Sequence number of the last event that was told. */
  heard: number;
  events: SessionEvents | undefined;
  isEnding: boolean;
  hearing: Promise<void>;
}

/** How often it is checked whether a child has been made that is said to come. */
const CHECK_EVERY_MS = 20;

export class FollowedChildren {
  readonly #options: FollowedChildrenOptions;
  /** By session id. */
  readonly #followed = new Map<string, Followed>();
  /** By the call that each answers. */
  readonly #byCall = new Map<string, string>();

  constructor(options: FollowedChildrenOptions) {
    this.#options = options;
  }

  /** Something happened in a session that is told already. */
  heard(event: SessionEvent): void {
    if (event.type !== 'agent.subflow_started') return;
    this.#byCall.set(event.data.callId, event.data.childSessionId);
    this.#follow(event.data.childSessionId, () => Promise.resolve(0));
  }

  /** Follows a child that an earlier wake began with, from here on. */
  goOnWith(sessionId: string): void {
    this.#follow(sessionId, async () => (await this.#options.sessions.status(sessionId)).head);
  }

  /** Resolves when all has been told that the child behind this call has done. */
  async endedBy(callId: string): Promise<void> {
    const followed = this.#followed.get(this.#byCall.get(callId) ?? '');
    if (followed !== undefined) await this.#end(followed);
  }

  /** Tells what there still is to tell, and follows no child any more. */
  async end(): Promise<void> {
    // Those that are told at last may have begun with others.
    for (const followed of this.#followed.values()) await this.#end(followed);
  }

  #follow(sessionId: string, from: () => Promise<number>): void {
    if (this.#followed.has(sessionId)) return;
    const followed: Followed = { sessionId, heard: 0, events: undefined, isEnding: false, hearing: Promise.resolve() };
    this.#followed.set(sessionId, followed);
    followed.hearing = this.#hear(followed, from).catch(() => undefined);
  }

  async #hear(followed: Followed, from: () => Promise<number>): Promise<void> {
    const { sessions } = this.#options;
    if (!(await this.#isThere(followed))) return;
    followed.heard = await from();
    followed.events = sessions.events(followed.sessionId, { from: followed.heard + 1, follow: true });
    if (followed.isEnding) followed.events.end();
    for await (const event of followed.events) await this.#tell(followed, event);
  }

  async #tell(followed: Followed, event: SessionEvent): Promise<void> {
    followed.heard = event.seq;
    if (event.type === 'agent.tool_result') await this.endedBy(event.data.callId);
    await this.#options.onEvent(event);
    this.heard(event);
  }

  async #end(followed: Followed): Promise<void> {
    if (followed.isEnding) return followed.hearing;
    followed.isEnding = true;
    followed.events?.end();
    await followed.hearing;
    if (followed.events === undefined) return;
    for await (const event of this.#options.sessions.events(followed.sessionId, { from: followed.heard + 1 }))
      await this.#tell(followed, event);
  }

  async #isThere(followed: Followed): Promise<boolean> {
    for (;;) {
      try {
        await this.#options.sessions.status(followed.sessionId);
        return true;
      } catch (error) {
        if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND' || followed.isEnding) return false;
        await pause(CHECK_EVERY_MS);
      }
    }
  }
}
