/** Several processes that do rounds of work at once, and tell when each piece of it was done. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Fleet {
  /** One round, by all of them. @returns pieces of work per second */
  round(pieces: number): Promise<number>;
  end(): Promise<void>;
}

export interface FleetWork {
  /** Works until nothing is left. @returns when each piece was done, by `nowMs` */
  round(): Promise<readonly number[]>;
  end(): Promise<void>;
}

/** A clock that all processes of a machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @param program URL of a module that calls `serve` */
export async function openFleet(program: URL, words: readonly string[], size: number): Promise<Fleet> {
  const members = Array.from({ length: size }, () => fork(fileURLToPath(program), words));
  await Promise.all(members.map(answer));
  return {
    async round(pieces) {
      const done = (await Promise.all(members.map(ask))).flat().toSorted((one, other) => one - other);
      if (done.length < pieces) throw new Error(`${done.length} of ${pieces} pieces were done by ${words.join(' ')}`);
      // From the first on: what it takes to begin is the same for one piece and for a thousand.
      return ((done.length - 1) / ((done.at(-1) ?? Number.NaN) - (done[0] ?? Number.NaN))) * 1_000;
    },
    async end() {
      await Promise.all(
        members.map(async (member) => {
          const gone = once(member, 'exit');
          member.send('end');
          await gone;
        }),
      );
    },
  };
}

/** What each of the processes does. */
export function serve(work: FleetWork): void {
  const round = async (): Promise<void> => {
    const done = await work.round();
    process.send?.(done);
  };
  const end = async (): Promise<void> => {
    await work.end();
    process.disconnect();
  };
  process.on('message', (message) => void (message === 'end' ? end() : round()));
  process.send?.([]);
}

async function ask(member: ChildProcess): Promise<readonly number[]> {
  member.send('go');
  return answer(member);
}

async function answer(member: ChildProcess): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`a worker of the bench ended with exit code ${code}`));
    member.once('exit', ended);
    member.once('message', (message) => {
      member.off('exit', ended);
      resolve(Array.isArray(message) ? message.map(Number) : []);
    });
  });
}
