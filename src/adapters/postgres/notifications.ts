/**
 * Tells other processes that something is due or stored: one coalesced notification on a connection of its own, never
 * one in the transaction of an append, which would make all appends wait for each other. It says only that something is
 * to be checked; a process that does not hear it polls.
 */
import { randomUUID } from 'node:crypto';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import { connectionSettings } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { isDirect } from './postgres-driver.ts';
import type { LoneClient, PostgresDriver } from './postgres-driver.ts';

export interface SessionNews {
  readonly sessionId: string;
  /** Where its log ended at least, if an event was stored. */
  readonly head?: number | undefined;
}

/** On a channel beside that of news. */
export interface Notification {
  readonly channel: string;
  readonly payload: string;
}

/** `ask`: a question, and to which worker. `told`: it has been answered. Ids hold no spaces. */
export type ProgramWord =
  | { readonly about: 'ask'; readonly id: string; readonly worker: string }
  | { readonly about: 'told'; readonly id: string };

/** Any user can speak under any name; the connection is what the server says. */
export interface Asker {
  readonly name: string;
  readonly connection: number;
}

export interface NotificationsOptions {
  readonly driver: PostgresDriver;
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  readonly url: string;
  readonly schemaName: string;
  readonly callLimitMs: number;
  readonly news: 'listen' | 'poll';
  readonly pollMs: number;
  readonly slowPollMs: number;
  /** Something may be due. */
  readonly onDue: () => void;
  /** The log or the lease of these sessions may have changed. */
  readonly onSessions: (news: readonly SessionNews[]) => void;
  /** Another program has said something of its own. */
  readonly onWord: (word: ProgramWord) => void;
  /** A notification may have been lost: time to check. */
  readonly onPoll: () => void;
  /** What another channel brings that is listened to. */
  readonly onNotification: (notification: Notification) => void;
  /** The process of this name is there. */
  readonly onProcess: (name: string) => void;
  /** It follows the words of these sessions; with a dash, no more. */
  readonly onAsked: (asker: Asker, sessions: readonly string[]) => void;
}

/**
 * The first after so many milliseconds of quiet is said at once; what comes within them is said together. What is due
 * waits for no more.
 */
const COALESCE_MS = 2;

/** The same for news of sessions: each wakes every process that listens, whether or not it watches the session. */
const COALESCE_NEWS_MS = 20;

/**
 * Where the server is slow to take news, they wait for so many times as long as it took, up to a limit: telling them is
 * a small part of the work.
 */
const QUIET_PER_SAYING = 10;
const MAX_QUIET_MS = 200;

/**
 * A notification holds less than 8,000 bytes: https://www.postgresql.org/docs/current/sql-notify.html. Ids, each with a
 * head, beyond it wait for the next one.
 */
const MAX_IDS = 160;

/** Calls of its own that a connection may miss before it is taken for dead. */
const MAX_UNHEARD = 2;

/** How long a connection may take to end, in milliseconds. */
const GOODBYE_MS = 1_000;

/** After the connection was lost, in milliseconds: the first try again, and at most. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;

export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #channel: string;
  /** Names this process to the others. */
  readonly name = randomUUID();
  /** Those that are listened to beside that of news. */
  readonly #channels = new Set<string>();
  #client: LoneClient | undefined;
  /** Of what is asked on it. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Whether our own connection may be used to speak. */
  #speaksItself = false;
  #isHearing = false;
  /** Polls since our own voice was heard last. */
  #unheard = 0;
  #failures = 0;
  #isDue = false;
  readonly #sessions = new Map<string, number | undefined>();
  /** Whose words are asked for, as they are told. */
  #asked: string[] = [];
  #sendTimer: TimerHandle | undefined;
  /** On the steady clock: when something was said last, and when the next is to be said. */
  #saidAtMs = -Infinity;
  #sendAtMs = 0;
  #newsQuietMs = COALESCE_NEWS_MS;
  #sending: Promise<void> = Promise.resolve();
  #pollTimer: TimerHandle | undefined;
  #connectTimer: TimerHandle | undefined;
  #connecting: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#channel = `wakechart_${options.schemaName}`;
  }

  /** Whether others are heard. False behind a pooler that gives each transaction another connection. */
  get isHearing(): boolean {
    return this.#isHearing;
  }

  /** Resolves when it is known whether anything is heard, or cannot be yet. */
  async begin(): Promise<void> {
    if (this.#options.news === 'listen') {
      await this.#connect();
      await this.#callOut();
    }
    this.#armPoll();
  }

  ringDue(): void {
    this.#isDue = true;
    this.#armSend();
  }

  ringSession(sessionId: string, head?: number): void {
    this.#sessions.set(sessionId, head ?? this.#sessions.get(sessionId));
    this.#armSend();
  }

  /** Tells processes that wake these sessions that their words are followed here; with a dash, no more. */
  askForWords(sessions: readonly string[]): void {
    // What is answered would not be heard.
    if (this.#client === undefined || !this.#speaksItself) return;
    this.#asked.push(...sessions);
    this.#armSend();
  }

  /** Resolves when what is said there is heard from now on, or cannot be yet. */
  async listen(channel: string): Promise<void> {
    this.#channels.add(channel);
    await this.#query({ text: `LISTEN "${channel}"` }).catch(() => undefined);
  }

  unlisten(channel: string): void {
    this.#channels.delete(channel);
    this.#query({ text: `UNLISTEN "${channel}"` }).catch(() => undefined);
  }

  /** Where there is a connection to the server itself. What is lost is not sent again. */
  notify(notifications: readonly Notification[]): Promise<void> {
    const text = 'SELECT pg_notify(n.channel, n.payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)';
    const columns = [notifications.map(({ channel }) => channel), notifications.map(({ payload }) => payload)];
    this.#sending = this.#sending.then(async () => {
      if (this.#client !== undefined && this.#speaksItself) await this.#ask(text, columns);
    });
    return this.#sending;
  }

  /** At once. A lost one is not said again. */
  say(word: ProgramWord): Promise<void> {
    return this.#notify([this.name, word.about, word.id, ...(word.about === 'ask' ? [word.worker] : [])].join(' '));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { clock } = this.#options;
    for (const timer of [this.#pollTimer, this.#connectTimer]) clock.clearTimeout(timer);
    if (this.#sendTimer !== undefined) this.#send();
    await this.#connecting;
    await this.#sending;
    await this.#drop();
  }

  #armSend(): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const sendAtMs = this.#saidAtMs + (this.#isDue ? COALESCE_MS : this.#newsQuietMs);
    if (this.#sendTimer !== undefined && this.#sendAtMs <= sendAtMs) return;
    clock.clearTimeout(this.#sendTimer);
    this.#sendAtMs = sendAtMs;
    const waitMs = sendAtMs - clock.steadyNow();
    if (waitMs <= 0) this.#send();
    else this.#sendTimer = clock.setTimeout(() => this.#send(), waitMs);
  }

  #send(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#sendTimer);
    this.#sendTimer = undefined;
    this.#saidAtMs = clock.steadyNow();
    // One at a time: what comes meanwhile is said together afterwards.
    this.#sending = this.#sending.then(() => this.#say());
  }

  async #say(): Promise<void> {
    await this.#sayAsked();
    if (!this.#isDue && this.#sessions.size === 0) return;
    const news = [...this.#sessions].slice(0, MAX_IDS);
    const isDue = this.#isDue;
    this.#isDue = false;
    for (const [id] of news) this.#sessions.delete(id);
    await this.#notify(
      [this.name, isDue ? 'due' : '', ...news.flatMap(([id, head]) => (head === undefined ? [id] : [id, head]))].join(
        ' ',
      ),
    );
    if (this.#sessions.size > 0) await this.#say();
  }

  async #sayAsked(): Promise<void> {
    while (this.#asked.length > 0)
      await this.#notify([this.name, 'words', ...this.#asked.splice(0, MAX_IDS)].join(' '));
  }

  /** A lost one is not sent again: processes poll. */
  #notify(payload: string): Promise<void> {
    return this.#ask('SELECT pg_notify($1, $2)', [this.#channel, payload]);
  }

  async #ask(text: string, values: readonly unknown[]): Promise<void> {
    const { clock, database } = this.#options;
    const askedMs = clock.steadyNow();
    try {
      if (this.#client === undefined || !this.#speaksItself) await database.run(text, values);
      else await this.#query({ text, values });
      this.#newsQuietMs = Math.min(
        MAX_QUIET_MS,
        Math.max(COALESCE_NEWS_MS, QUIET_PER_SAYING * (clock.steadyNow() - askedMs)),
      );
    } catch {
      // A connection that does not answer hears nothing either.
      if (this.#client !== undefined && this.#speaksItself) void this.#lost(this.#client);
    }
  }

  /** On our own connection, one at a time, as the driver wants it. */
  async #query(request: Parameters<LoneClient['query']>[0]): Promise<void> {
    const client = this.#client;
    const turn = this.#turn.then(() => client?.query(request));
    this.#turn = turn.catch(() => undefined);
    await turn;
  }

  #connect(): Promise<void> {
    this.#connecting = this.#tryToConnect();
    return this.#connecting;
  }

  async #tryToConnect(): Promise<void> {
    const { driver, url, callLimitMs } = this.#options;
    if (this.#isClosed) return;
    const client = new driver.Client(connectionSettings({ url, callLimitMs }));
    const lost = (): void => void this.#lost(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ channel, payload = '', processId }) => {
      if (channel === this.#channel) this.#hear(payload, processId);
      else this.#options.onNotification({ channel, payload });
    });
    try {
      await client.connect();
      await client.query({ text: [this.#channel, ...this.#channels].map((each) => `LISTEN "${each}"`).join('; ') });
      this.#speaksItself = await isDirect(client);
      this.#client = client;
      this.#turn = Promise.resolve();
      this.#failures = 0;
      if (this.#isClosed) await this.#drop();
    } catch {
      await client.end().catch(() => undefined);
      this.#connectLater();
    }
  }

  async #lost(client: LoneClient): Promise<void> {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#isHearing = false;
    this.#unheard = 0;
    this.#connectLater();
    void this.#ended(client);
    // What was said meanwhile is lost.
    if (!this.#isClosed) this.#poll();
  }

  #connectLater(): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    this.#failures += 1;
    clock.clearTimeout(this.#connectTimer);
    const delayMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(10, this.#failures - 1));
    this.#connectTimer = clock.setTimeout(() => void this.#connect().then(() => this.#callOut()), delayMs);
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#isHearing = false;
    if (client !== undefined) await this.#ended(client);
  }

  /** One that says nothing does not report its end either. */
  async #ended(client: LoneClient): Promise<void> {
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS);
    await client.end().catch(() => undefined);
    clock.clearTimeout(timer);
  }

  /** Says something to itself: a connection that does not hear that hears no other either. */
  async #callOut(): Promise<void> {
    if (this.#client === undefined) return;
    this.#unheard += 1;
    // One call at a time: what waits for an answer already would only wait behind it.
    if (this.#unheard > 1 && this.#speaksItself) return;
    await this.#notify(`${this.name} hello`);
  }

  #hear(payload: string, connection: number): void {
    const [from, about, ...said] = payload.split(' ');
    if (from === this.name) {
      const wasHearing = this.#isHearing;
      this.#isHearing = this.#client !== undefined;
      this.#unheard = 0;
      if (!wasHearing) this.#armPoll();
      return;
    }
    this.#options.onProcess(from ?? '');
    if (about === 'words') return this.#options.onAsked({ name: from ?? '', connection }, said);
    const [id = '', worker = ''] = said;
    if (about === 'ask') return this.#options.onWord({ about, id, worker });
    if (about === 'told') return this.#options.onWord({ about, id });
    if (about === 'due') this.#options.onDue();
    if (said.length > 0) this.#options.onSessions(newsOf(said));
  }

  #armPoll(): void {
    const { clock, pollMs, slowPollMs } = this.#options;
    clock.clearTimeout(this.#pollTimer);
    if (this.#isClosed) return;
    this.#pollTimer = clock.setTimeout(() => this.#poll(), this.#isHearing ? slowPollMs : pollMs);
  }

  #poll(): void {
    if (this.#unheard > 1) this.#isHearing = false;
    if (this.#unheard > MAX_UNHEARD && this.#client !== undefined && this.#speaksItself)
      return void this.#lost(this.#client);
    this.#options.onPoll();
    void this.#callOut();
    this.#armPoll();
  }
}

/**
 * Ids, each followed by its head where that was said. Programs of the version before say none, and take one for an id
 * that they do not know.
 */
function newsOf(said: readonly string[]): SessionNews[] {
  return said.flatMap((word, index) => {
    if (/^\d+$/.test(word)) return [];
    const next = said[index + 1] ?? '';
    return [{ sessionId: word, ...(/^\d+$/.test(next) ? { head: Number(next) } : {}) }];
  });
}
