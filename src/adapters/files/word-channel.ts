/**
 * Words between the processes of one machine, over the socket that each wake has as its lease: one who follows a session
 * connects to it and says so. A wake that is not followed pays nothing, and nothing is left behind by either side: the
 * kernel closes what belongs to a process that is gone.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { OnWord, Speak, WordChannel, WordLink } from '../../actors/words/word-channel.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import { placesOf } from './lease.ts';
import type { LeaseRequest } from './lease.ts';
import { LeaseFolder } from './lease-folder.ts';
import { encodeMessage } from './lease-message.ts';
import { WordReader, wordWriter } from './word-lines.ts';

export interface FileWordChannelOptions {
  /** Where the lease of a session lies. @throws RuntimeError SESSION_NOT_FOUND */
  readonly place: (sessionId: string) => Promise<Pick<LeaseRequest, 'directory' | 'socketDirectory'>>;
  /** Calls back when a wake may have begun: it says so in the log, once it has its lease. @returns ends it */
  readonly watch: (sessionId: string, onChange: () => void) => () => void;
}

export class FileWordChannel implements WordChannel {
  readonly #options: FileWordChannelOptions;
  /** The runtimes over this store, by a name that they give to those whom they connect to. */
  readonly #members = new Map<string, Speak>();

  constructor(options: FileWordChannelOptions) {
    this.#options = options;
  }

  join(speak: Speak): WordLink {
    const name = randomUUID();
    const followed = new Set<FollowedSession>();
    this.#members.set(name, speak);
    return {
      follow: (sessionId, onWord) => {
        const session = new FollowedSession(sessionId, { ...this.#options, name, onWord });
        followed.add(session);
        return () => {
          followed.delete(session);
          session.close();
        };
      },
      close: async () => {
        this.#members.delete(name);
        for (const session of followed) session.close();
        followed.clear();
      },
    };
  }

  /** One who has connected to the lease of a session of ours wants to hear its words. */
  admit(sessionId: string, connection: Socket, by: string): void {
    const tell = wordWriter(connection);
    for (const [name, speak] of this.#members) {
      if (name === by) continue;
      const leave = speak(sessionId, tell);
      connection.on('close', leave);
    }
  }
}

interface FollowedSessionOptions extends FileWordChannelOptions {
  readonly name: string;
  readonly onWord: OnWord;
}

class FollowedSession {
  readonly #sessionId: string;
  readonly #options: FollowedSessionOptions;
  readonly #unwatch: () => void;
  /** By epoch. One that has ended stays as long as its name does, so that it is not tried again. */
  readonly #connections = new Map<number, Socket>();
  /** The epoch of the one who speaks: a process that another one has passed has no say. */
  #speaker = 0;
  /** Whether something was said that the log does not have. */
  #isOpen = false;
  #checking: Promise<void> | undefined;
  #hasChanged = false;
  #isClosed = false;

  constructor(sessionId: string, options: FollowedSessionOptions) {
    this.#sessionId = sessionId;
    this.#options = options;
    this.#unwatch = options.watch(sessionId, () => this.#change());
    this.#change();
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    for (const connection of this.#connections.values()) connection.destroy();
  }

  /** One check at a time, and one more for what has changed meanwhile. */
  #change(): void {
    this.#hasChanged = true;
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
  }

  async #check(): Promise<void> {
    while (this.#hasChanged && !this.#isClosed) {
      this.#hasChanged = false;
      // What cannot be reached says nothing: the log tells it.
      await this.#connectToAll().catch(() => undefined);
    }
  }

  async #connectToAll(): Promise<void> {
    const { place } = this.#options;
    const { directory, ...options } = await place(this.#sessionId);
    const there = new Set<number>();
    for (const each of placesOf({ socketDirectory: options.socketDirectory })) {
      const folder = await LeaseFolder.find(each, directory);
      if (folder === undefined) continue;
      try {
        const epochs = folder.epochs();
        for (const epoch of epochs) there.add(epoch);
        await Promise.all(epochs.map((epoch) => this.#connect(epoch, folder.addressOf(epoch))));
      } finally {
        await folder.close();
      }
    }
    for (const [epoch, connection] of this.#connections)
      if (!there.has(epoch) && connection.destroyed) this.#connections.delete(epoch);
  }

  /** Resolves when the way to it is not needed any more. */
  #connect(epoch: number, address: string): Promise<void> {
    if (this.#connections.has(epoch) || this.#isClosed) return Promise.resolve();
    const connection = connect(address);
    const reader = new WordReader();
    this.#connections.set(epoch, connection);
    connection.unref();
    connection.setEncoding('utf8');
    connection.write(encodeMessage({ type: 'follow', by: this.#options.name }));
    connection.on('data', (text: string) => {
      for (const word of reader.read(text)) this.#hear(epoch, word);
    });
    return new Promise((resolve) => {
      connection.on('connect', resolve);
      connection.on('error', () => resolve());
      connection.on('close', () => {
        resolve();
        this.#lose(epoch);
      });
    });
  }

  #hear(epoch: number, word: SessionWord): void {
    if (epoch < this.#speaker || this.#isClosed) return;
    if (epoch > this.#speaker) this.#endSpeech();
    this.#speaker = epoch;
    if (word.type === 'said') this.#isOpen = true;
    else if (word.type !== 'progress') this.#isOpen = false;
    this.#options.onWord(word);
  }

  /** It has ended, or died: another one may be there. */
  #lose(epoch: number): void {
    if (this.#isClosed) return;
    if (epoch === this.#speaker) this.#endSpeech();
    this.#change();
  }

  /** What its process did not come to store comes to nothing. */
  #endSpeech(): void {
    if (this.#isOpen) this.#options.onWord({ type: 'taken_back' });
    this.#isOpen = false;
  }
}
