import { explainRunFailure } from '/work/main/src/machines/run/classify-failure.ts';
import { FAILURE_TABLES } from '/work/main/src/machines/run/failure-codes.ts';
import { FAILURE_PATTERNS } from '/work/main/src/machines/run/failure-patterns.ts';
import { FAILURE_CORPUS } from '/work/main/test/machines/run/failure-corpus/all-cases.ts';
import { networkFailures } from '/work/main/test/machines/run/failure-corpus/network-failures.ts';
import { NOW } from '/work/main/test/machines/run/failure-corpus/failure-case.ts';
import { it } from 'vitest';
it('mutates', async () => {
  const all = [...FAILURE_CORPUS, ...(await networkFailures())];
  const broken = () => all.some((c) => { const r = explainRunFailure(c.error, { now: NOW }); return r.rule !== c.rule || r.failure.kind !== c.kind; });
  let n = 0; const survivors: string[] = [];
  for (const t of FAILURE_TABLES) for (const [k, row] of [...t.rows]) { (t.rows as Map<string, unknown>).delete(k); n++; if (!broken()) survivors.push(t.called + ' ' + k); (t.rows as Map<string, unknown>).set(k, row); }
  const ps = FAILURE_PATTERNS as unknown as any[];
  for (let i = 0; i < ps.length; i++) { const [p] = ps.splice(i, 1); n++; if (!broken()) survivors.push(p.id); ps.splice(i, 0, p); }
  const started = performance.now(); for (let i = 0; i < 20; i++) for (const c of all) explainRunFailure(c.error, { now: NOW });
  const per = (performance.now() - started) / (20 * all.length) * 1000;
  const big = 'model exceed quota '.repeat(60000); const t0 = performance.now(); explainRunFailure({ status: 400, body: big, stderr: big, message: big }); const t1 = performance.now() - t0;
  console.log(JSON.stringify({ n, survivors, corpus: all.length, perMicros: per, bigMs: t1, patterns: ps.length, rows: n - ps.length }));
}, 120000);
