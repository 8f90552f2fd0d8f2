/**
 * Full wakes per second by 1, 2, 4 and 8 worker processes, with the database on the same machine. Beside them, by as
 * many processes: the very statements of such wakes sent again with nothing around them; a wake written by hand, with
 * five statements on two tables; and the whole runtime, which keeps workspaces and the like in files.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Runtime } from 'wakechart/ports';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { openFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { appendedBy, recordWake } from './recorded-wake.ts';
import type { RecordedWake } from './recorded-wake.ts';
import { ask, settle, startServer } from './server.ts';
import { makeDue, openLeanRuntime, removeHome, wakeHome } from './wake-setup.ts';
import { MAKE_WRITTEN, WRITTEN_TABLES } from './written-wake.ts';
import type { Appends } from './written-wake.ts';

const ROUNDS = 5;
const WAKES = 240;

/**
 * Wakes of each process before anything is measured: until then the compiler of Node is at work, in each process by
 * itself.
 */
const WARM_UP_WAKES = 900;
const QUIET_MS = 50;
const SIZES = [1, 2, 4, 8] as const;
const WHOLE_AT = 4;
const WORKERS = new URL('./wake-workers.js', import.meta.url);

const KINDS = ['lean', 'replayed', 'written', 'whole'] as const;
type Kind = (typeof KINDS)[number];
type Rates = Readonly<Record<Kind, number[]>>;

interface Scene {
  readonly url: string;
  readonly home: string;
  readonly runtime: Runtime;
  readonly recorded: RecordedWake;
}

export async function run(): Promise<BenchRow[]> {
  const server = await startServer();
  const home = await wakeHome();
  try {
    const url = await server.migrated();
    await ask(url, WRITTEN_TABLES);
    const runtime = await openLeanRuntime(url, home);
    const recorded = await recordOne(runtime, () => openLeanRuntime(url, home));
    await writeFile(join(home, 'replayed.json'), JSON.stringify(recorded));
    await writeFile(join(home, 'written.json'), JSON.stringify(appendsOf(recorded)));
    const rows: BenchRow[] = [];
    const scene = { url, home, runtime, recorded };
    for (const size of SIZES) rows.push(...rowsOf(size, await ratesOf(size, scene), recorded));
    rows.push(await growthRow(scene));
    await runtime.shutdown();
    return rows;
  } finally {
    await server.stop();
    await removeHome(home);
  }
}

/** By a worker that has not seen the session before, as most have not. */
async function recordOne(maker: Runtime, open: () => Promise<Runtime>): Promise<RecordedWake> {
  const worker = await open();
  const [sessionId = ''] = await makeDue(maker, 1);
  // What the maker says of it is not the wake's.
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  const recorded = await recordWake(worker, sessionId);
  await worker.shutdown();
  return recorded;
}

/** In turn, so that a machine that slows down slows all of them. */
async function ratesOf(size: number, scene: Scene): Promise<Rates> {
  const rates: Rates = { lean: [], replayed: [], written: [], whole: [] };
  const fleets: [Kind, Fleet][] = [];
  // The whole runtime is there to compare with at one size.
  for (const kind of KINDS.filter((each) => each !== 'whole' || size === WHOLE_AT))
    fleets.push([
      kind,
      await openFleet(WORKERS, [kind, scene.url, scene.home, join(scene.home, `${kind}.json`)], size),
    ]);
  for (const [kind, fleet] of fleets) await warmUp(kind, fleet, size, scene);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [kind, fleet] of fleets) {
      await prepare(kind, scene);
      rates[kind].push(await fleet.round(WAKES));
    }
  }
  for (const [, fleet] of fleets) await fleet.end();
  return rates;
}

async function warmUp(kind: Kind, fleet: Fleet, size: number, scene: Scene): Promise<void> {
  for (let left = WARM_UP_WAKES * size; left > 0; left -= WAKES) {
    await prepare(kind, scene);
    await fleet.round(WAKES);
  }
}

async function prepare(kind: Kind, { url, runtime }: Scene): Promise<void> {
  if (kind === 'written')
    await ask(url, MAKE_WRITTEN, [WAKES, JSON.stringify({ content: 'It was the best of times. '.repeat(4) })]);
  else await makeDue(runtime, WAKES);
  await settle(url);
}

/** Whether more workers do more, with those of both numbers in turn. */
async function growthRow(scene: Scene): Promise<BenchRow> {
  const [few, many] = [
    await openFleet(WORKERS, ['lean', scene.url, scene.home], 1),
    await openFleet(WORKERS, ['lean', scene.url, scene.home], WHOLE_AT),
  ];
  const round = async (fleet: Fleet): Promise<number> => {
    await prepare('lean', scene);
    return fleet.round(WAKES);
  };
  await warmUp('lean', few, 1, scene);
  await warmUp('lean', many, WHOLE_AT, scene);
  const { a, b } = await interleave(
    ROUNDS,
    () => round(many),
    () => round(few),
  );
  for (const fleet of [few, many]) await fleet.end();
  const ratio = median(a.map((own, index) => own / (b[index] ?? Number.NaN)));
  return {
    name: `full wakes, ${WHOLE_AT} workers`,
    unit: 'per second',
    value: median(a),
    spread: spread(a),
    peer: '1 worker',
    peerValue: median(b),
    ratio,
    target: '>= 1 x one worker',
    met: ratio >= 1,
  };
}

/** The events of a wake, as it has appended them. */
function appendsOf(recorded: RecordedWake): Appends {
  return appendedBy(recorded).map(({ ids, types, data }) =>
    ids.map((id, index) => ({ id, type: types[index] ?? '', data: data[index] ?? '' })),
  );
}

function rowsOf(size: number, rates: Rates, { statements }: RecordedWake): BenchRow[] {
  const workers = size === 1 ? '1 worker' : `${size} workers`;
  const ratio = (kind: Kind): number =>
    median(rates.lean.map((own, index) => own / (rates[kind][index] ?? Number.NaN)));
  const common = {
    name: `full wakes, ${workers}`,
    unit: 'per second',
    value: median(rates.lean),
    spread: spread(rates.lean),
  };
  const rows: BenchRow[] = [
    {
      ...common,
      peer: `the same ${statements.length} statements, bare`,
      peerValue: median(rates.replayed),
      ratio: ratio('replayed'),
      target: '>= 0.8 x raw SQL',
      met: ratio('replayed') >= 0.8,
    },
    {
      ...common,
      peer: 'written by hand, 5 statements',
      peerValue: median(rates.written),
      ratio: ratio('written'),
      target: '>= 0.5 x by hand',
      met: ratio('written') >= 0.5,
    },
  ];
  if (rates.whole.length > 0)
    rows.push({
      ...common,
      name: `${common.name}, whole Node runtime`,
      value: median(rates.whole),
      spread: spread(rates.whole),
      peer: 'without its files',
      peerValue: median(rates.lean),
      ratio: 1 / ratio('whole'),
      target: '>= 0.8 x',
      met: 1 / ratio('whole') >= 0.8,
    });
  return rows;
}
