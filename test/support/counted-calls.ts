/**
 * What some work asks of the file system, counted without tools of the system: the calls that answer at once, and those
 * that another thread makes.
 */
import { createHook } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Call = (...parts: unknown[]) => unknown;

export interface Costs {
  /** Functions that the thread called that asked for them, in order, without "Sync". */
  readonly atOnce: readonly string[];
  /** How many calls it passed to another thread, which each cost several calls more to wake it and to hear from it. */
  readonly passedOn: number;
}

const calls: string[] = [];
const functions = fs as unknown as Record<string, Call>;
const originals = Object.entries(functions).filter(
  ([name, value]) => typeof value === 'function' && name.endsWith('Sync'),
);

/** From now on every function of the file system that answers at once is noted when it is called. */
export function countCalls(): void {
  for (const [name, call] of originals) {
    functions[name] = Object.assign((...parts: unknown[]) => {
      calls.push(name.replace('Sync', ''));
      return call(...parts);
    }, call);
  }
  syncBuiltinESMExports();
}

export function countNoMore(): void {
  for (const [name, call] of originals) functions[name] = call;
  syncBuiltinESMExports();
}

export async function costsOf(work: () => Promise<unknown>): Promise<Costs> {
  let passedOn = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type.startsWith('FSREQ')) passedOn += 1;
    },
  });
  calls.length = 0;
  hook.enable();
  await work();
  // What is done behind the answer counts too.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  hook.disable();
  return { atOnce: [...calls], passedOn };
}
