/**
 * Opening a session: folding all of its log against splitting it and parsing the JSON; and from a checkpoint, at any
 * length.
 */
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { interleave, median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { IDENTITY, benchHome, fill, openState } from './sessions.ts';
import type { BenchHome } from './sessions.ts';

const ROUNDS = 5;
const FOLDED_EVENTS = 100_000;
const MAX_OPEN_MS = 20;

async function openMs(home: BenchHome): Promise<number> {
  const store = home.open('os');
  const startedMs = performance.now();
  await openState(store);
  const spentMs = performance.now() - startedMs;
  await store.close();
  return spentMs;
}

async function parseMs(path: string): Promise<number> {
  const startedMs = performance.now();
  const lines = (await readFile(path, 'utf8')).split('\n');
  let parsed = 0;
  for (const line of lines) if (line !== '' && JSON.parse(line) !== null) parsed += 1;
  if (parsed === 0) throw new Error('expected a log with records');
  return performance.now() - startedMs;
}

export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const home = await benchHome();
  const directory = join(home.path, 'agents', IDENTITY.agentId, 'sessions', IDENTITY.sessionId);
  for (const length of [FOLDED_EVENTS, 1_000_000]) {
    const store = home.open('os');
    await fill(store, length);
    await store.close();
    if (length === FOLDED_EVENTS) {
      const { a: ours, b: parsing } = await interleave(
        ROUNDS,
        () => openMs(home),
        () => parseMs(join(directory, 'events.jsonl')),
      );
      const ratio = median(ours.map((own, index) => (parsing[index] ?? Number.NaN) / own));
      rows.push({
        name: `open and fold ${length.toLocaleString('en')} events`,
        unit: 'ms',
        value: median(ours),
        spread: spread(ours),
        peer: 'split + JSON.parse',
        peerValue: median(parsing),
        ratio,
        target: '>= 0.4 x',
        met: ratio >= 0.4,
      });
    }
    const keeper = home.open('os');
    await keeper.saveView(await openState(keeper));
    await keeper.close();
    // Without the view, which would stand for all of the log, the checkpoint has to do.
    await rename(join(directory, 'session.json'), join(directory, 'session.json.aside'));
    const values = await repeat(ROUNDS, () => openMs(home));
    rows.push({
      name: `open ${length.toLocaleString('en')} events from a checkpoint`,
      unit: 'ms',
      value: median(values),
      spread: spread(values),
      target: `< ${MAX_OPEN_MS} ms`,
      met: median(values) < MAX_OPEN_MS,
    });
    await rename(join(directory, 'runtime', 'checkpoint.json'), join(directory, 'runtime', 'checkpoint.json.aside'));
  }
  await home.remove();
  return rows;
}
