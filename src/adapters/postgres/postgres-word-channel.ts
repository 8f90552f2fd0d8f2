/**
 * Words between processes over LISTEN and NOTIFY. One who follows a session asks for its words where news are told, and
 * listens on a channel of its own, whose name only those can know who may read the session: notifications have no
 * rights. A process that wakes it tells them there, many pieces at once. A wake that is not followed asks the server for
 * nothing more.
 */
import { createHash } from 'node:crypto';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { OnWord, Speak, WordChannel, WordLink } from '../../actors/words/word-channel.ts';
import { sessionId as sessionIdSchema } from '../../machines/ids.ts';
import { FollowedWords } from './followed-words.ts';
import type { Asker, Notification, Notifications } from './notifications.ts';
import { ToldFollower } from './told-follower.ts';

export interface PostgresWordChannelOptions {
  readonly clock: Clock;
  readonly schemaName: string;
  readonly notifications: Pick<Notifications, 'name' | 'listen' | 'unlisten' | 'notify' | 'askForWords'>;
  /** Of the first event of a session. @throws RuntimeError SESSION_NOT_FOUND */
  readonly firstEventId: (sessionId: string) => Promise<string>;
}

/**
 * One that is sent at once; what comes within so many milliseconds is sent together. Each sending is a transaction of
 * the server, of which one at a time can commit.
 */
const COALESCE_MS = 30;

/** Who asks says so again every few seconds: one that has not for so long is gone, in milliseconds. */
const FORGOTTEN_AFTER_MS = 20_000;
/** Of all processes: any user of the database can ask. */
const MAX_TOLD = 10_000;

export class PostgresWordChannel implements WordChannel {
  readonly #options: PostgresWordChannelOptions;
  readonly #speaks = new Set<Speak>();
  /** By the name of the follower and the session. */
  readonly #told = new Map<string, ToldFollower>();
  readonly #followed = new Map<string, FollowedWords>();
  readonly #byChannel = new Map<string, FollowedWords>();
  /** Processes of which something was heard. */
  readonly #known = new Set<string>();
  #sendTimer: TimerHandle | undefined;
  #sentAtMs = -Infinity;
  #sending: Promise<void> | undefined;

  constructor(options: PostgresWordChannelOptions) {
    this.#options = options;
  }

  join(speak: Speak): WordLink {
    this.#speaks.add(speak);
    for (const told of this.#told.values()) told.follow(speak);
    return {
      follow: (sessionId, onWord) => this.#follow(sessionId, onWord),
      close: async () => {
        this.#speaks.delete(speak);
        await this.#tellLast();
      },
    };
  }

  /**
   * A process asks for the words of these sessions, or, with a dash, for no more of them: it is forgotten where it asked
   * over the same connection, and no other has asked under its name.
   */
  asked(by: Asker, sessions: readonly string[]): void {
    for (const session of sessions) {
      if (!session.startsWith('-')) this.#tell(by, session);
      else {
        const key = `${by.name} ${session.slice(1)}`;
        if (this.#told.get(key)?.left(by.connection) === true) this.#forget(key);
      }
    }
  }

  /** One that has just begun has not heard who follows what. */
  heardOf(process: string): void {
    if (this.#known.has(process)) return;
    if (this.#known.size >= MAX_TOLD) this.#known.clear();
    this.#known.add(process);
    this.#askForAll();
  }

  heard({ channel, payload }: Notification): void {
    this.#byChannel.get(channel)?.hear(payload);
  }

  /** To be called every few seconds. */
  poll(): void {
    const nowMs = this.#options.clock.steadyNow();
    for (const [key, told] of this.#told) if (told.isForgotten(nowMs - FORGOTTEN_AFTER_MS)) this.#forget(key);
    for (const followed of this.#followed.values()) followed.poll();
    this.#askForAll();
  }

  #askForAll(): void {
    const sessions = [...this.#followed].filter(([, { channel }]) => channel !== undefined).map(([id]) => id);
    if (sessions.length > 0) this.#options.notifications.askForWords(sessions);
  }

  /** What was said last waits for no other. */
  async #tellLast(): Promise<void> {
    for (const told of this.#told.values()) told.leave();
    this.#options.clock.clearTimeout(this.#sendTimer);
    this.#sendTimer = undefined;
    await this.#sending;
    await this.#sendAll();
  }

  #follow(sessionId: string, onWord: OnWord): () => void {
    const { notifications } = this.#options;
    const followed = new FollowedWords(onWord);
    this.#followed.set(sessionId, followed);
    void this.#listen(sessionId, followed).catch(() => undefined);
    return () => {
      followed.close();
      if (this.#followed.get(sessionId) !== followed) return;
      this.#followed.delete(sessionId);
      if (followed.channel === undefined) return;
      this.#byChannel.delete(followed.channel);
      notifications.unlisten(followed.channel);
      notifications.askForWords([`-${sessionId}`]);
    };
  }

  async #listen(sessionId: string, followed: FollowedWords): Promise<void> {
    const { notifications } = this.#options;
    const channel = await this.#channelOf(sessionId, notifications.name);
    if (this.#followed.get(sessionId) !== followed) return;
    followed.channel = channel;
    this.#byChannel.set(channel, followed);
    await notifications.listen(channel);
    if (this.#followed.get(sessionId) === followed) notifications.askForWords([sessionId]);
  }

  /** A user who may read the session knows its first event, and no other can guess it. */
  async #channelOf(sessionId: string, follower: string): Promise<string> {
    const { schemaName, firstEventId } = this.#options;
    const secret = [schemaName, sessionId, await firstEventId(sessionId), follower].join('\n');
    return `wakechart_words_${createHash('sha256').update(secret).digest('hex').slice(0, 40)}`;
  }

  #tell({ name, connection }: Asker, sessionId: string): void {
    const { clock, notifications } = this.#options;
    const key = `${name} ${sessionId}`;
    const told = this.#told.get(key);
    if (told !== undefined) {
      // Behind the others: the one that has not asked for longest is the first.
      this.#told.delete(key);
      this.#told.set(key, told);
      if (told.asked(connection, clock.steadyNow())) this.#arm();
      return;
    }
    if (!sessionIdSchema.safeParse(sessionId).success || !this.#hasRoom()) return;
    const follower = new ToldFollower({
      sessionId,
      by: notifications.name,
      channelOf: () => this.#channelOf(sessionId, name),
      onWord: () => this.#arm(),
    });
    follower.asked(connection, clock.steadyNow());
    this.#told.set(key, follower);
    for (const speak of this.#speaks) follower.follow(speak);
  }

  /**
   * Any user of the database can ask, under any name. So many that ask put none out to whom something is being said, and
   * who is put out is heard again when it asks again.
   */
  #hasRoom(): boolean {
    if (this.#told.size < MAX_TOLD) return true;
    for (const [key, told] of this.#told) {
      if (told.isSpoken) continue;
      this.#forget(key);
      return true;
    }
    return false;
  }

  #forget(key: string): void {
    this.#told.get(key)?.leave();
    this.#told.delete(key);
  }

  #arm(): void {
    if (this.#sendTimer !== undefined || this.#sending !== undefined) return;
    const { clock } = this.#options;
    const waitMs = this.#sentAtMs + COALESCE_MS - clock.steadyNow();
    if (waitMs <= 0) this.#send();
    else this.#sendTimer = clock.setTimeout(() => this.#send(), waitMs);
  }

  /** One sending at a time: what comes meanwhile is told with the next one. */
  #send(): void {
    const { clock } = this.#options;
    this.#sendTimer = undefined;
    this.#sentAtMs = clock.steadyNow();
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
      if ([...this.#told.values()].some(({ hasWords }) => hasWords)) this.#arm();
    });
  }

  async #sendAll(): Promise<void> {
    const { notifications } = this.#options;
    const messages: Notification[] = [];
    for (const [key, told] of this.#told) {
      // Of a session that cannot be read any more, no one is told anything.
      const taken = await told.take().catch(() => this.#forget(key));
      messages.push(...(taken ?? []));
    }
    if (messages.length > 0) await notifications.notify(messages);
  }
}
