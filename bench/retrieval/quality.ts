/**
 * How good retrieval is: labelled questions over generated histories, against a text search and against BM25. One
 * question in three is held out: weights were chosen by the others. Prints the table that docs/retrieval.md shows, and
 * writes it there when WRITE_DOCS is 1.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow } from '../harness.ts';
import { countingSearch, okapiSearch } from './baselines.ts';
import type { Search } from './baselines.ts';
import { AGENT_ID, NOW_MS, corpusOf } from './corpus.ts';
import type { Corpus } from './corpus.ts';
import { historyOf } from './history.ts';
import type { Labelled } from './labelled.ts';
import { LABELLED_TRACES } from './labelled-traces.ts';
import { LABELLED_WORK } from './labelled-work.ts';
import { openRetrieval } from './parts.ts';

const LABELS: readonly Labelled[] = [...LABELLED_WORK, ...LABELLED_TRACES];
const SEEDS = [11, 23, 47];
const CUTOFF = 5;
const DEPTH = 20;
const DOCS = 'docs/retrieval.md';
const MARK = /(?<=<!-- quality -->\n)[\s\S]*?(?=<!-- \/quality -->)/;

export interface Quality {
  readonly questions: number;
  readonly recall: number;
  readonly reciprocal: number;
}

type Kept = Readonly<Record<string, readonly number[]>>;

/** The rank of the answer for each question of each history, by search; Infinity where it is not among the first. */
async function ranksOf(): Promise<{
  readonly ranks: Kept;
  readonly heldOut: readonly boolean[];
  readonly kinds: readonly string[];
  readonly pieces: number;
}> {
  const ranks: Record<string, number[]> = {};
  const heldOut: boolean[] = [];
  const kinds: string[] = [];
  let pieces = 0;
  for (const seed of SEEDS) {
    const corpus = corpusOf(historyOf(LABELS, { seed, sessions: 60, turnsPerSession: 60 }), LABELS);
    pieces = corpus.items.length;
    await withRetrieval(corpus, async (retrieval) => {
      const searches: Readonly<Record<string, Search>> = {
        'text search': countingSearch(corpus.items),
        BM25: okapiSearch(corpus.items),
        retrieval,
      };
      for (const [label, { question, kind }] of LABELS.entries()) {
        const answer = corpus.items.find((item) => item.label === label)?.id ?? '';
        for (const [name, search] of Object.entries(searches))
          (ranks[name] ??= []).push(rankOf(answer, await search(question, DEPTH)));
        heldOut.push(label % 3 === 2);
        kinds.push(kind);
      }
    });
  }
  return { ranks, heldOut, kinds, pieces };
}

async function withRetrieval(corpus: Corpus, work: (search: Search) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'retrieval-bench-'));
  const { index, retrieval } = await openRetrieval(join(folder, 'retrieval'), {
    sources: corpus.sources,
    nowMs: NOW_MS,
  });
  try {
    await work(async (query, limit) =>
      (await retrieval.search({ agentId: AGENT_ID, query, limit })).candidates.map(({ id }) => id),
    );
  } finally {
    await index.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function rankOf(answer: string, found: readonly string[]): number {
  const place = found.indexOf(answer);
  return place < 0 ? Infinity : place + 1;
}

function qualityOf(ranks: readonly number[], counts: (index: number) => boolean): Quality {
  const chosen = ranks.filter((_, index) => counts(index));
  return {
    questions: chosen.length,
    recall: chosen.filter((rank) => rank <= CUTOFF).length / chosen.length,
    reciprocal: chosen.reduce((sum, rank) => sum + 1 / rank, 0) / chosen.length,
  };
}

export async function run(): Promise<BenchRow[]> {
  const { ranks, heldOut, kinds, pieces } = await ranksOf();
  const groups: readonly (readonly [string, (index: number) => boolean])[] = [
    ['chosen by', (index) => heldOut[index] === false],
    ['held out', (index) => heldOut[index] === true],
    ...[...new Set(kinds)].map((kind) => [kind, (index: number) => kinds[index] === kind] as const),
  ];
  const names = Object.keys(ranks);
  const cell = ({ recall, reciprocal }: Quality): string => `${(100 * recall).toFixed(0)} % · ${reciprocal.toFixed(2)}`;
  const lines = groups.map(
    ([name, counts]) =>
      `| ${name} | ${qualityOf(ranks[names[0] ?? ''] ?? [], counts).questions} | ${names.map((each) => cell(qualityOf(ranks[each] ?? [], counts))).join(' | ')} |`,
  );
  const table = [
    `| questions | n | ${names.join(' | ')} |`,
    `|---|---|${names.map(() => '---').join('|')}|`,
    ...lines,
  ].join('\n');
  const text = `${LABELS.length} questions over ${SEEDS.length} generated histories of ${pieces.toLocaleString('en')} pieces each; recall@${CUTOFF} · mean reciprocal rank:\n\n${table}\n`;
  console.error(text);
  if (process.env['WRITE_DOCS'] === '1') await writeFile(DOCS, (await readFile(DOCS, 'utf8')).replace(MARK, text));
  return groups
    .slice(0, 2)
    .map(([name, counts]) =>
      rowOf(name, qualityOf(ranks['retrieval'] ?? [], counts), qualityOf(ranks['text search'] ?? [], counts)),
    );
}

function rowOf(name: string, ours: Quality, peer: Quality): BenchRow {
  const ratio = ours.recall / peer.recall;
  return {
    name: `retrieval recall@${CUTOFF}, ${name}`,
    unit: '%',
    value: 100 * ours.recall,
    spread: `${ours.questions} questions`,
    peer: 'text search',
    peerValue: 100 * peer.recall,
    ratio,
    target: '>= 1.3 x',
    met: ratio >= 1.3,
  };
}
