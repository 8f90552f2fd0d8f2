/**
 * `npm run bench [-- [--nodes] NAME …]`: runs the benches whose name is given (all by default), prints one table,
 * writes `.build/bench/results.json`.
 */
import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BenchRow } from './harness.ts';
import { besideEachOther, resultsOfNodes } from './nodes.ts';

const BENCHES: Readonly<Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>>> = {
  throughput: () => import('./tasks/throughput.ts'),
  'task-kinds': () => import('./tasks/kinds.ts'),
  memory: () => import('./tasks/memory.ts'),
  'mass-stop': () => import('./tasks/mass-stop.ts'),
  streams: () => import('./tasks/streams.ts'),
  inspector: () => import('./inspector/recording.ts'),
  'inspector-page': () => import('./inspector/page.ts'),
  audits: () => import('./charts/audits.ts'),
  gigabyte: () => import('./shell/gigabyte.ts'),
  'cancel-to-gone': () => import('./shell/cancel-to-gone.ts'),
  append: () => import('./storage/append.ts'),
  'open-session': () => import('./storage/open-session.ts'),
  'idle-worker': () => import('./storage/idle-worker.ts'),
  'at-rest': () => import('./storage/at-rest.ts'),
  'send-to-wake': () => import('./storage/send-to-wake.ts'),
  wakes: () => import('./wakes/one-by-one.ts'),
  'wake-workers': () => import('./wakes/workers.ts'),
  'postgres-appends': () => import('./postgres/appends.ts'),
  'postgres-wakes': () => import('./postgres/wakes.ts'),
  'postgres-queue': () => import('./postgres/queue.ts'),
  'postgres-news': () => import('./postgres/news.ts'),
  'postgres-growth': () => import('./postgres/growth.ts'),
  words: () => import('./words/latency.ts'),
  attempt: () => import('./runs/attempt.ts'),
  'first-token': () => import('./runs/first-token.ts'),
  'subagent-starts': () => import('./subagents/starts.ts'),
  'subagent-jobs': () => import('./subagents/jobs.ts'),
  'subagent-messages': () => import('./subagents/messages.ts'),
  'subagent-memory': () => import('./subagents/memory.ts'),
  worktrees: () => import('./worktrees/create-remove.ts'),
  'retrieval-quality': () => import('./retrieval/quality.ts'),
  'retrieval-scale': () => import('./retrieval/scale.ts'),
};

const RESULTS = '.build/bench/results.json';
const NODES = '--nodes';

const given = process.argv.slice(2);
const wanted = given.filter((name) => name !== NODES);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`no bench named ${unknown.join(', ')}; there are: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}

const chosen = wanted.length === 0 ? Object.keys(BENCHES) : wanted;
const [only] = chosen;
if (only !== undefined && process.send !== undefined) {
  const bench = await BENCHES[only]?.();
  process.send(await bench?.run());
  process.disconnect();
} else if (given.includes(NODES))
  printLines(besideEachOther(resultsOfNodes(fileURLToPath(import.meta.url), chosen, RESULTS)));
else await printTable(chosen);

/**
 * Each bench has a process of its own: a heap full of another bench's records, or code tuned for it, would be measured
 * too.
 */
async function rowsOf(name: string): Promise<BenchRow[]> {
  console.error(`… ${name}`);
  return new Promise((resolve, reject) => {
    let rows: BenchRow[] | undefined;
    const child = fork(fileURLToPath(import.meta.url), [name], { execArgv: process.execArgv });
    child.on('message', (message) => {
      rows = message as BenchRow[];
    });
    child.on('exit', (code) =>
      rows === undefined ? reject(new Error(`bench ${name} ended with exit code ${code}`)) : resolve(rows),
    );
  });
}

async function printTable(names: readonly string[]): Promise<void> {
  const rows: BenchRow[] = [];
  for (const name of names) rows.push(...(await rowsOf(name)));
  const rounded = (value: number | undefined): string =>
    value === undefined ? '' : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
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
  console.log(`Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
  printLines([columns, ...table.map((line) => columns.map((column) => line[column]))]);

  mkdirSync('.build/bench', { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify({ node: process.version, cores: cpus().length, rows }, undefined, 2)}\n`);
}

/** As a table; the first line is its head. */
function printLines(lines: readonly (readonly string[])[]): void {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const print = (cells: readonly string[]): void =>
    console.log(`| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`);
  for (const [index, line] of lines.entries()) {
    print(line);
    if (index === 0) print(widths.map((width) => '-'.repeat(width)));
  }
}
