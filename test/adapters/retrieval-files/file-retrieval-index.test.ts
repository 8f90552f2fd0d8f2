/** The index in its files: the same however it came about, bounded in what it trusts, and of use without a disk. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { Retrieval } from '../../../src/actors/retrieval/retrieval.ts';
import { FileRetrievalIndex } from '../../../src/adapters/retrieval-files/file-retrieval-index.ts';
import { prepareQuery } from '../../../src/machines/retrieval/query.ts';
import { termsOf } from '../../../src/machines/retrieval/terms.ts';
import { AGENT, Logs, sessionIdOf } from '../../support/retrieval-logs.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let trouble: unknown[];

beforeEach(async () => {
  home = await temporaryHome();
  trouble = [];
});

afterEach(() => home.remove());

function opened(logs: Logs, folder: string): { readonly index: FileRetrievalIndex; readonly retrieval: Retrieval } {
  const onTrouble = (error: unknown): void => void trouble.push(error);
  const index = new FileRetrievalIndex({ folderOf: () => folder, onTrouble });
  return {
    index,
    retrieval: new Retrieval({
      index,
      sources: { sessions: logs },
      clock: createSimulatedClock({ now: Date.parse('2026-02-01T00:00:00Z') }),
      onTrouble,
    }),
  };
}

const WORDS = [
  'amber',
  'ambers',
  'amberly',
  'basalt',
  'basalts',
  'bazalt',
  'certificate',
  'certifcate',
  'deploy',
  'port',
  '8443',
  'src/main.ts',
  '東京都',
  'Zürich',
  '𝔸𝔹',
];

const sentence = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const session = fc.integer({ min: 1, max: 3 });

type Step =
  | { readonly kind: 'say' | 'call'; readonly session: number; readonly text: string }
  | { readonly kind: 'delete'; readonly session: number }
  | { readonly kind: 'refresh' | 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('say' as const, 'call' as const), session, text: sentence }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), session }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('refresh' as const, 'restart' as const) }) },
);

function write(logs: Logs, { kind, session: n, text }: Extract<Step, { text: string }>, call: number): void {
  const sessionId = logs.logs.has(sessionIdOf(n)) ? sessionIdOf(n) : logs.start(n, { title: `about ${text}` });
  if (kind === 'say') logs.say(sessionId, text);
  else
    logs.call(sessionId, `c${call}`, {
      name: 'shell_run',
      input: { command: text },
      ...(call % 3 === 0 ? {} : { output: `${text} done` }),
    });
}

describe('an index that grew with its logs', () => {
  it('finds exactly what one finds that is made anew', async () => {
    let run = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      sentence,
      async (steps, query) => {
        run += 1;
        const folder = join(home.path, `grown-${run}`);
        const logs = new Logs();
        let grown = opened(logs, folder).retrieval;
        for (const [call, each] of steps.entries()) {
          if ('text' in each) write(logs, each, call);
          else if (each.kind === 'delete') logs.logs.delete(sessionIdOf(each.session));
          else if (each.kind === 'restart') grown = opened(logs, folder).retrieval;
          else await grown.refresh(AGENT);
        }
        const search = (retrieval: Retrieval): ReturnType<Retrieval['search']> =>
          retrieval.search({ agentId: AGENT, query, limit: 20 });
        await grown.refresh(AGENT);
        const expected = await search(opened(logs, join(home.path, `anew-${run}`)).retrieval);
        expect(await search(grown)).toEqual(expected);
        expect(await search(opened(logs, folder).retrieval)).toEqual(expected);
      },
    );
    await fc.assert(property, { numRuns: 60 });
    expect(trouble).toEqual([]);
  });

  it('forgets the words of what is gone', async () => {
    const logs = new Logs();
    const { index, retrieval } = opened(logs, join(home.path, 'index'));
    const one = logs.start(1);
    for (let n = 0; n < 6_000; n += 1) logs.say(one, `unique${n}`);
    await retrieval.refresh(AGENT);
    logs.logs.clear();
    logs.say(logs.start(2), 'Only granite is left.');
    await retrieval.refresh(AGENT);
    const agent = await index.of(AGENT);
    expect(agent.rarity('unique5999')).toBe(agent.rarity('never'));
    expect((await retrieval.search({ agentId: AGENT, query: 'granite' })).candidates[0]).toMatchObject({
      sessionId: sessionIdOf(2),
    });
    expect((await retrieval.search({ agentId: AGENT, query: 'unique5999' })).candidates).toEqual([]);
  });
});

describe('a score', () => {
  it('is what BM25+ says of the words in titles and texts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sentence, { minLength: 1, maxLength: 12 }), async (texts) => {
        const { index } = opened(new Logs(), join(home.path, 'none'));
        const agent = await index.of(AGENT);
        const documents = texts.map((text, n) => ({
          id: `d${n}`,
          kind: 'memory' as const,
          seqs: [],
          title: texts[(n + 1) % texts.length] ?? '',
          text,
        }));
        await agent.share('memory', documents);
        const hits = await agent.search({
          terms: prepareQuery('deploy port').terms.filter(({ weight }) => weight === 1),
          accepts: () => true,
          limit: 100,
        });
        const scores = new Map(hits.map(({ document, score }) => [document.id, score]));
        for (const { id, title, text } of documents)
          expect(scores.get(id) ?? 0).toBeCloseTo(scoreOf(['deploy', 'port'], { title, text }, documents), 10);
        await index.close();
      }),
      { numRuns: 40 },
    );
  });
});

type Fields = { readonly title: string; readonly text: string };

/** By the formula, without any index; only for words that no other word is written like. */
function scoreOf(words: readonly string[], document: Fields, all: readonly Fields[]): number {
  const scores = words.flatMap((word) =>
    (['title', 'text'] as const).map((field) => {
      const times = termsOf(document[field]).filter((term) => term === word).length;
      if (times === 0) return 0;
      const lengths = all.map((each) => new Set(termsOf(each[field])).size);
      const length =
        new Set(termsOf(document[field])).size / (lengths.reduce((sum, each) => sum + each, 0) / all.length);
      const holding = all.filter((each) => termsOf(each[field]).includes(word)).length;
      const rarity = Math.log(1 + (all.length - holding + 0.5) / (holding + 0.5));
      return (
        (field === 'title' ? 1.2 : 1) * rarity * (0.5 + (times * 2.2) / (times + 1.2 * (1 - 0.35 + 0.35 * length)))
      );
    }),
  );
  return scores.reduce((sum, score) => sum + score, 0);
}

describe('a file of the index', () => {
  it('is never trusted beyond its bytes: any byte of it that is changed makes it anew', async () => {
    const logs = new Logs();
    const one = logs.start(1, { title: 'Quarry' });
    for (let n = 0; n < 5; n += 1) logs.say(one, `Basalt ${n} and granite.`);
    const folder = join(home.path, 'index');
    await opened(logs, folder).retrieval.refresh(AGENT);
    const file = join(folder, `${one}.part`);
    const whole = await readFile(file);
    const expected = await opened(logs, folder).retrieval.search({ agentId: AGENT, query: 'granite' });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, by, isCut) => {
          const damaged = Buffer.from(isCut ? whole.subarray(0, at) : whole);
          if (!isCut) damaged[at] = (whole[at] ?? 0) ^ by;
          await writeFile(file, damaged);
          expect(await opened(logs, folder).retrieval.search({ agentId: AGENT, query: 'granite' })).toEqual(expected);
          expect(await readFile(file)).toEqual(whole);
        },
      ),
      { numRuns: 60 },
    );
    expect(trouble).toEqual([]);
  });

  it('that is huge, a folder or of an unknown name is passed over', async () => {
    const logs = new Logs();
    logs.say(logs.start(1), 'Basalt.');
    const folder = join(home.path, 'index');
    await mkdir(join(folder, `${sessionIdOf(7)}.part`), { recursive: true });
    await writeFile(join(folder, '..evil.part'), 'x');
    expect((await opened(logs, folder).retrieval.search({ agentId: AGENT, query: 'basalt' })).candidates).not.toEqual(
      [],
    );
    expect((await readdir(folder)).sort()).toEqual(['..evil.part', `${sessionIdOf(1)}.part`, `${sessionIdOf(7)}.part`]);
  });
});

describe('a folder where nothing can be kept', () => {
  it('is told of once, and everything is found all the same', async () => {
    const logs = new Logs();
    for (let n = 1; n <= 5; n += 1) logs.say(logs.start(n), `Basalt ${n}.`);
    await writeFile(join(home.path, 'a-file'), '');
    const { retrieval } = opened(logs, join(home.path, 'a-file', 'index'));
    expect((await retrieval.search({ agentId: AGENT, query: 'basalt' })).candidates.length).toBeGreaterThan(4);
    expect(trouble).toMatchObject([{ code: 'ENOTDIR' }]);
  });
});
