/**
 * What the index costs: 1,000 sessions of 100 messages, built from logs, opened from its files, brought up to date, and
 * searched. Beside the time that passes stands the time of the processor, which says more on a machine that others use
 * too.
 */
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { AGENT_ID, corpusOf } from './corpus.ts';
import { historyOf } from './history.ts';
import { LABELLED_TRACES } from './labelled-traces.ts';
import { LABELLED_WORK } from './labelled-work.ts';
import { openRetrieval } from './parts.ts';
import type { RetrievalSources } from './parts.ts';
import { longestTurnMs } from './turns.ts';

const SESSIONS = 1_000;
const MESSAGES = 100;
const MEGABYTE = 1024 * 1024;
const DOCS = 'docs/retrieval.md';
const MARK = /(?<=<!-- scale -->\n)[\s\S]*?(?=<!-- \/scale -->)/;
const PREFIX = 'retrieval index: ';

interface Cost {
  readonly wallMs: number;
  /** Of all threads. */
  readonly processorMs: number;
}

const LABELS = [...LABELLED_WORK, ...LABELLED_TRACES];

export async function run(): Promise<BenchRow[]> {
  const { sources } = corpusOf(historyOf(LABELS, { seed: 5, sessions: SESSIONS, turnsPerSession: MESSAGES }), LABELS);
  const folder = await mkdtemp(join(tmpdir(), 'retrieval-scale-'));
  try {
    const turns = await turnRows(join(folder, 'turns'), sources);
    const costs = await costRows(join(folder, 'costs'), sources);
    const size = await sizeOf(join(folder, 'costs'));
    const rows = [...costs, row('files', 'MB', size / MEGABYTE, 100), ...turns];
    if (process.env['WRITE_DOCS'] === '1')
      await writeFile(
        DOCS,
        (await readFile(DOCS, 'utf8')).replace(MARK, () => tableOf(rows)),
      );
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function costRows(folder: string, sources: RetrievalSources): Promise<BenchRow[]> {
  const first = await openRetrieval(folder, { sources });
  const build = await costOf(() => first.retrieval.refresh(AGENT_ID));
  await first.index.close();
  const before = await memoryBytes();
  const second = await openRetrieval(folder, { sources });
  const open = await costOf(() => second.retrieval.refresh(AGENT_ID));
  const megabytes = ((await memoryBytes()) - before) / MEGABYTE;
  const searches: Cost[] = [];
  for (const { question } of LABELS)
    searches.push(await costOf(() => second.retrieval.search({ agentId: AGENT_ID, query: question })));
  const refresh = await costOf(() => second.retrieval.refresh(AGENT_ID));
  await second.index.close();
  const [walls, processor] = [searches.map(({ wallMs }) => wallMs), searches.map(({ processorMs }) => processorMs)];
  return [
    row('build from logs', 'ms', build.wallMs, 15_000),
    row('build from logs, processor', 'ms', build.processorMs, 8_000),
    row('open from files', 'ms', open.wallMs, 1_500),
    row('open from files, processor', 'ms', open.processorMs, 1_000),
    row('refresh, nothing new', 'ms', refresh.wallMs, 100),
    { ...row('search, median', 'ms', median(walls), 30), spread: spread(walls) },
    { ...row('search, median, processor', 'ms', median(processor), 20), spread: spread(processor) },
    row('search, slowest', 'ms', Math.max(...walls), 150),
    row('search, slowest, processor', 'ms', Math.max(...processor), 150),
    row('memory', 'MB', megabytes, 100),
  ];
}

/** In a run of its own: checking every turn costs time. */
async function turnRows(folder: string, sources: RetrievalSources): Promise<BenchRow[]> {
  const first = await openRetrieval(folder, { sources });
  const build = await longestTurnMs(() => first.retrieval.refresh(AGENT_ID));
  await first.index.close();
  const second = await openRetrieval(folder, { sources });
  const open = await longestTurnMs(() => second.retrieval.refresh(AGENT_ID));
  const searches = await longestTurnMs(async () => {
    for (const { question } of LABELS) await second.retrieval.search({ agentId: AGENT_ID, query: question });
  });
  await second.index.close();
  const turns = {
    'longest turn while building, processor': build,
    'longest turn while opening, processor': open,
    'longest turn while searching, processor': searches,
  };
  return Object.entries(turns).flatMap(([name, value]) => (value === undefined ? [] : [row(name, 'ms', value, 20)]));
}

function tableOf(rows: readonly BenchRow[]): string {
  const lines = rows.map(
    ({ name, value, unit }) => `| ${name.replace(PREFIX, '')} | ${value.toFixed(value < 10 ? 1 : 0)} ${unit} |`,
  );
  return `${SESSIONS.toLocaleString('en')} sessions of ${MESSAGES} messages, on Node ${process.versions.node} with ${availableParallelism()} processors:\n\n| | |\n|---|---|\n${lines.join('\n')}\n`;
}

function row(name: string, unit: string, value: number, most: number): BenchRow {
  return {
    name: `${PREFIX}${name}`,
    unit,
    value,
    spread: `${SESSIONS} x ${MESSAGES}`,
    target: `<= ${most} ${unit}`,
    met: value <= most,
  };
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [startedMs, used] = [performance.now(), process.cpuUsage()];
  await work();
  const [wallMs, { user, system }] = [performance.now() - startedMs, process.cpuUsage(used)];
  return { wallMs, processorMs: (user + system) / 1_000 };
}

/** Of objects, and of what lies beside them. */
async function memoryBytes(): Promise<number> {
  // What lies beside objects is released after them.
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
