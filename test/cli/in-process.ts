/**
 * Runs the command line inside this process, for tests of what a command does: the same from its words to its exit
 * code, without the half second of a program that starts. What is about processes (signals, what is piped in, several
 * at once, another user) is run by `command-line.ts`.
 */
import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { Ended } from './command-line.ts';

/** What a program listens for because it owns its process. Here the test run does. */
const OWNED_EVENTS = ['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const;

// Nothing is piped in, and the home of whoever runs the tests is not theirs.
Object.defineProperty(process, 'stdin', { configurable: true, get: () => Readable.from([]) });
for (const name of ['WAKECHART_HOME', 'WAKECHART_STORE', 'WAKECHART_STORE_FILE']) delete process.env[name];

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** A command to its end, with `--home` among its words. A defect that would end a program fails the test run. */
export async function runInProcess(words: readonly string[]): Promise<Ended> {
  const stdout = new Collected();
  const stderr = new Collected();
  const code = await begunWith({ stdout, stderr }, () => runCommandLine(words));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/**
 * A command takes its streams and its signals when it begins: they are put back at once, so that commands may run side
 * by side.
 */
function begunWith<Result>(streams: Readonly<Record<'stdout' | 'stderr', Writable>>, begin: () => Result): Result {
  const ours = {
    stdout: Object.getOwnPropertyDescriptor(process, 'stdout'),
    stderr: Object.getOwnPropertyDescriptor(process, 'stderr'),
  };
  const before = new Map(OWNED_EVENTS.map((event) => [event, process.rawListeners(event)]));
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { configurable: true, value });
  try {
    return begin();
  } finally {
    for (const [name, descriptor] of Object.entries(ours)) Object.defineProperty(process, name, descriptor ?? {});
    for (const event of OWNED_EVENTS) {
      for (const listener of process.rawListeners(event))
        if (!before.get(event)?.includes(listener)) process.removeListener(event, listener as () => void);
    }
  }
}
