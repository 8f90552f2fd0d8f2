/** Several processes write one log at the same time, and some of them are killed while they do. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { LogLimits } from '../../../src/adapters/files/session-log.ts';
import { IDENTITY, SESSION_ID, created, newEvent } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const dist = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../../dist/${path}`, import.meta.url)));

interface Receipt {
  readonly id: string;
  readonly seq: number;
}

let home: TemporaryHome;
let store: FileEventStore;
const writers: ChildProcess[] = [];
beforeEach(async () => {
  home = await temporaryHome();
  store = new FileEventStore({ home: home.path, clock: createSystemClock() });
  await store.create(IDENTITY, [newEvent(1, created)]);
});
afterEach(async () => {
  for (const writer of writers.splice(0)) writer.kill('SIGKILL');
  await store.close();
  await home.remove();
});

/** A process that appends, several at a time, and prints each receipt it gets. */
function startWriter(
  count: number,
  limits: LogLimits = {},
): {
  readonly process: ChildProcess;
  readonly receipts: Receipt[];
  readonly firstReceipt: Promise<unknown>;
  readonly ended: Promise<unknown>;
} {
  const script = `
    const { FileEventStore } = await import(${dist('adapters/files/file-event-store.js')});
    const { createSystemClock } = await import(${dist('actors/clock/system-clock.js')});
    const { createIdSource } = await import(${dist('actors/session/id-source.js')});
    const { writeSync } = await import('node:fs');
    const clock = createSystemClock();
    const ids = createIdSource({ clock });
    const store = new FileEventStore({ home: ${JSON.stringify(home.path)}, clock, ...${JSON.stringify(limits)} });
    let left = ${count};
    const work = async () => {
      while (left-- > 0) {
        const event = { id: ids.next(), at: new Date().toISOString(), type: 'user.message', v: 1, data: { text: 'x'.repeat(Math.floor(Math.random() * 3000) + 1) } };
        const { events: [stored] } = await store.append(${JSON.stringify(SESSION_ID)}, [event]);
        writeSync(1, JSON.stringify({ id: event.id, seq: stored.seq }) + '\\n');
      }
    };
    await Promise.all([work(), work(), work()]);
    await store.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  writers.push(child);
  const receipts: Receipt[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => receipts.push(JSON.parse(line) as Receipt));
  return {
    process: child,
    receipts,
    firstReceipt: once(lines, 'line'),
    ended: Promise.all([once(child, 'exit'), once(lines, 'close')]),
  };
}

async function idsInLog(): Promise<string[]> {
  const ids: string[] = [];
  for (
    let page = await store.read(SESSION_ID);
    page.length > 0;
    page = await store.read(SESSION_ID, { from: ids.length + 1 })
  )
    ids.push(...page.map(({ id }) => id));
  return ids;
}

describe('a log that several processes write', () => {
  it('holds every event once, at the place its receipt says, in the order all agree on', async () => {
    const started = [startWriter(150), startWriter(150), startWriter(150)];
    await Promise.all(started.map(({ ended }) => ended));
    const ids = await idsInLog();
    expect(ids).toHaveLength(451);
    const receipts = started.flatMap((writer) => writer.receipts);
    expect(receipts).toHaveLength(450);
    expect(receipts.filter(({ id, seq }) => ids[seq - 1] !== id)).toEqual([]);
  });

  it('holds everything that was acknowledged, though writers were killed in the middle of it', async () => {
    const started = Array.from({ length: 4 }, () => startWriter(10_000));
    await Promise.all(started.map(({ firstReceipt }) => firstReceipt));
    for (const writer of started) {
      // Some more work between one death and the next.
      await once(writer.process.stdout ?? writer.process, 'data');
      writer.process.kill('SIGKILL');
    }
    await Promise.all(started.map(({ ended }) => ended));
    const ids = await idsInLog();
    const receipts = started.flatMap((writer) => writer.receipts);
    expect(receipts.length).toBeGreaterThanOrEqual(4);
    expect(receipts.filter(({ id, seq }) => ids[seq - 1] !== id)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each([[1], [5_000]])(
    'gives each of them its place when all of them begin new files at once, of %s bytes',
    async (segmentBytes) => {
      const started = [1, 2, 3].map(() => startWriter(60, { segmentBytes }));
      await Promise.all(started.map(({ ended }) => ended));
      const ids = await idsInLog();
      expect(ids).toHaveLength(181);
      expect(new Set(ids).size).toBe(181);
      const receipts = started.flatMap((writer) => writer.receipts);
      expect(receipts).toHaveLength(180);
      expect(receipts.filter(({ id, seq }) => ids[seq - 1] !== id)).toEqual([]);
    },
  );
});
