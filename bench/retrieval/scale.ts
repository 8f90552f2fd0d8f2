/** What the index costs: 1,000 sessions of 100 messages, built from logs, opened from its files, brought up to date, and searched. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { FileRetrievalIndex, Retrieval, createSystemClock } from 'wakechart/node';
import { collectGarbage, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { AGENT_ID, corpusOf } from './corpus.ts';
import { historyOf } from './history.ts';
import { LABELLED_TRACES } from './labelled-traces.ts';
import { LABELLED_WORK } from './labelled-work.ts';

const SESSIONS = 1_000;
const MESSAGES = 100;
const MEGABYTE = 1024 * 1024;

export async function run(): Promise<BenchRow[]> {
  const labels = [...LABELLED_WORK, ...LABELLED_TRACES];
  const { sources } = corpusOf(historyOf(labels, { seed: 5, sessions: SESSIONS, turnsPerSession: MESSAGES }), labels);
  const folder = await mkdtemp(join(tmpdir(), 'retrieval-scale-'));
  const open = (): { readonly index: FileRetrievalIndex; readonly retrieval: Retrieval } => {
    const onTrouble = (error: unknown): void => {
      throw error;
    };
    const index = new FileRetrievalIndex({ folderOf: () => join(folder, 'retrieval'), onTrouble });
    return { index, retrieval: new Retrieval({ index, sources, clock: createSystemClock(), onTrouble }) };
  };
  try {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const first = open();
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const buildMs = await timed(() => first.retrieval.refresh(AGENT_ID));
    delay.disable();
    collectGarbage();
    const megabytes = (process.memoryUsage().heapUsed - before) / MEGABYTE;
    const searches: number[] = [];
    for (const { question } of labels) searches.push(await timed(() => first.retrieval.search({ agentId: AGENT_ID, query: question })));
    const refreshMs = await timed(() => first.retrieval.refresh(AGENT_ID));
    await first.index.close();
    const second = open();
    const openMs = await timed(() => second.retrieval.refresh(AGENT_ID));
    await second.index.close();
    const size = await sizeOf(join(folder, 'retrieval'));
    return [
      row('retrieval index: build from logs', 'ms', buildMs, 60_000),
      row('retrieval index: longest stretch while building', 'ms', delay.percentile(99.9) / 1e6, 40),
      row('retrieval index: open from files', 'ms', openMs, 30_000),
      row('retrieval index: refresh, nothing new', 'ms', refreshMs, 100),
      { ...row('retrieval search', 'ms', median(searches), 100), spread: spread(searches) },
      row('retrieval search: slowest', 'ms', Math.max(...searches), 300),
      row('retrieval index: memory', 'MB', megabytes, 400),
      row('retrieval index: files', 'MB', size / MEGABYTE, 100),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function row(name: string, unit: string, value: number, most: number): BenchRow {
  return { name, unit, value, spread: `${SESSIONS} x ${MESSAGES}`, target: `<= ${most} ${unit}`, met: value <= most };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
