// @ts-check
/**
 * A reservation as a chart, and a class that lives by it without knowing it. The check leads both along the same events,
 * with crashes and a clock of its own; a mistake in the class is found, and told in a few steps. Needs fast-check.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartPaths, checkChart } from 'wakechart/testing';
import { renderCoverage } from 'wakechart/node';
import { setup } from 'xstate';

const MINUTE_MS = 60_000;

const machine = setup({
  types: { events: /** @type {{ type: 'HOLD' | 'CONFIRM' | 'RELEASE' }} */ ({}) },
}).createMachine({
  id: 'seat',
  initial: 'free',
  states: {
    free: { on: { HOLD: 'held' } },
    held: { on: { CONFIRM: 'sold', RELEASE: 'free' }, after: { [10 * MINUTE_MS]: 'free' } },
    sold: { type: 'final' },
  },
});

class Seat {
  /** @param {{ state: string, until: number }} row @param {import('wakechart/ports').Clock} clock */
  constructor(row, clock) {
    this.row = row;
    this.clock = clock;
  }

  hold() {
    if (this.row.state !== 'free') return;
    Object.assign(this.row, { state: 'held', until: this.clock.now() + 10 * MINUTE_MS });
    this.freeInTime();
  }

  freeInTime() {
    const { until } = this.row;
    this.clock.setTimeout(() => {
      if (this.row.state === 'held' && this.row.until === until) this.row.state = 'free';
    }, until - this.clock.now());
  }

  /** @param {string} state */
  leave(state) {
    if (this.row.state === 'held') this.row.state = state;
  }
}

/** @param {(seat: Seat) => void} begin what a seat does that is read from the database again */
const adapter = (begin) => ({
  /** @param {import('wakechart/testing').ChartWorld} world */
  start: ({ clock }) => new Seat({ state: 'free', until: 0 }, clock),
  events: {
    HOLD: (/** @type {Seat} */ seat) => seat.hold(),
    CONFIRM: (/** @type {Seat} */ seat) => seat.leave('sold'),
    RELEASE: (/** @type {Seat} */ seat) => seat.leave('free'),
  },
  read: (/** @type {Seat} */ seat) => seat.row.state,
  /** @param {Seat} crashed @param {import('wakechart/testing').ChartWorld} world */
  restart: (crashed, { clock }) => {
    const seat = new Seat({ ...crashed.row }, clock);
    begin(seat);
    return seat;
  },
});

for (const { to, steps } of chartPaths(machine).states) console.log(`to ${to}: ${steps.length} steps`);

// The mistake: after a crash nothing frees the seat.
await checkChart(
  machine,
  adapter(() => undefined),
  { seed: 1 },
).catch((/** @type {unknown} */ error) => console.log(error instanceof Error ? error.message : error));

const { runs, cover } = await checkChart(
  machine,
  adapter((seat) => seat.row.state === 'held' && seat.freeInTime()),
  { runs: 1_000 },
);
cover.assert();
console.log(`${runs} runs, and the two agree`);

const folder = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
try {
  const page = join(folder, 'seat.html');
  await writeFile(page, await renderCoverage(machine, cover.hits));
  console.log(cover.text);
} finally {
  await rm(folder, { recursive: true, force: true });
}
