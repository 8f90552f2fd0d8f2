/** `npm run bench [-- NAME …]`: runs the benches whose name is given (all by default), prints one table, writes `.build/bench/results.json`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { BenchRow } from './harness.ts';

const BENCHES: Readonly<Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>>> = {
  throughput: () => import('./tasks/throughput.ts'),
  memory: () => import('./tasks/memory.ts'),
  'mass-stop': () => import('./tasks/mass-stop.ts'),
  streams: () => import('./tasks/streams.ts'),
  gigabyte: () => import('./shell/gigabyte.ts'),
  'cancel-to-gone': () => import('./shell/cancel-to-gone.ts'),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(', ')}; there are: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}

const rows: BenchRow[] = [];
for (const [name, load] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.error(`… ${name}`);
  const bench = await load();
  rows.push(...(await bench.run()));
}

const rounded = (value: number | undefined): string => (value === undefined ? '' : value >= 100 ? value.toFixed(0) : value.toPrecision(3));
const table = rows.map((row) => ({
  bench: row.name,
  value: `${rounded(row.value)} ${row.unit}`,
  spread: row.spread,
  peer: row.peer === undefined ? '' : `${row.peer}: ${rounded(row.peerValue)}`,
  ratio: row.ratio === undefined ? '' : row.ratio.toFixed(2),
  target: row.target,
  met: row.met ? 'yes' : 'NO',
}));
const columns = ['bench', 'value', 'spread', 'peer', 'ratio', 'target', 'met'] as const;
const widths = columns.map((column) => Math.max(column.length, ...table.map((line) => line[column].length)));
const print = (cells: readonly string[]): void => console.log(`| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`);
console.log(`Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
print(columns);
print(widths.map((width) => '-'.repeat(width)));
for (const line of table) print(columns.map((column) => line[column]));

mkdirSync('.build/bench', { recursive: true });
writeFileSync('.build/bench/results.json', `${JSON.stringify({ node: process.version, cores: cpus().length, rows }, undefined, 2)}\n`);
