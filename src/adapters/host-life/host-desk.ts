/** Where a process answers others: each connection brings one question as a line, and takes its answer as another. */
import type { Socket } from 'node:net';
import { letOthersRun } from '../../actors/clock/waiting.ts';
import type { HostAnswerer } from '../../actors/host/host-exchange.ts';

/** More is no question of ours. */
export const MAX_QUESTION_CHARACTERS = 8_388_608;

/** How long one who connects may take to ask. Who only wants to know whether this process lives leaves at once. */
const PATIENCE_MS = 10_000;

/** How long an answer may take to be read when this process is about to go. */
const LAST_WORDS_MS = 500;

/** Each costs a descriptor until it ends. */
const MAX_CONNECTIONS = 256;

export class HostDesk {
  readonly #answerer: () => HostAnswerer | undefined;
  readonly #connections = new Set<Socket>();

  constructor(answerer: () => HostAnswerer | undefined) {
    this.#answerer = answerer;
  }

  admit(connection: Socket): void {
    connection.on('error', () => undefined);
    const answer = this.#answerer();
    if (answer === undefined) {
      connection.destroy();
      return;
    }
    // The one that is here longest waits for an end, and asks again: so a short question always finds a place.
    if (this.#connections.size >= MAX_CONNECTIONS) this.#hangUpOldest();
    this.#connections.add(connection);
    connection.on('close', () => this.#connections.delete(connection));
    // Who asks does not keep this process alive.
    connection.unref();
    connection.setTimeout(PATIENCE_MS, () => connection.destroy());
    hearLine(connection, (question) => {
      connection.setTimeout(0);
      void reply(connection, question, answer);
    });
  }

  #hangUpOldest(): void {
    const [oldest] = this.#connections;
    if (oldest === undefined) return;
    this.#connections.delete(oldest);
    oldest.destroy();
  }

  /** Lets answers that were given be read, and hangs up on all others. */
  async close(): Promise<void> {
    // What has ended by now is told of.
    await letOthersRun();
    const open = [...this.#connections];
    if (open.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, LAST_WORDS_MS)));
    await Promise.race([Promise.all(open.map(leave)), late]);
    clearTimeout(timer);
    for (const connection of open) connection.destroy();
  }
}

/** Calls back once, with the first line. */
function hearLine(connection: Socket, onLine: (line: string) => void): void {
  let text = '';
  const hear = (piece: string): void => {
    text += piece;
    const end = piece.includes('\n') ? text.indexOf('\n') : -1;
    if (end < 0 && text.length <= MAX_QUESTION_CHARACTERS) return;
    connection.off('data', hear);
    if (end < 0) connection.destroy();
    else onLine(text.slice(0, end));
  };
  connection.setEncoding('utf8');
  connection.on('data', hear);
}

async function reply(connection: Socket, question: string, answer: HostAnswerer): Promise<void> {
  const gone = new AbortController();
  connection.on('close', () => gone.abort());
  // Whatever else it says is passed over; that it leaves is heard.
  connection.resume();
  try {
    connection.end(`${await answer(question, gone.signal)}\n`);
    // One who does not read it pins it no longer than that.
    connection.setTimeout(PATIENCE_MS);
  } catch {
    // It is told nothing, and hears that this process lives.
    connection.destroy();
  }
}

function leave(connection: Socket): Promise<void> {
  return new Promise((resolve) => {
    connection.on('close', () => resolve());
    if (connection.writableEnded) connection.destroySoon();
    else connection.destroy();
  });
}
