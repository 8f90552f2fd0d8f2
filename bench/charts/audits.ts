/**
 * The audit of all our charts, and the check of what is written of them: each has to be quick enough to run with every
 * change.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { auditChart, charts } from 'wakechart/machines';
import { renderChart } from 'wakechart/node';
import { median, repeat, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const ROUNDS = 7;
const runProgram = promisify(execFile);
const checkout = fileURLToPath(new URL('../../../', import.meta.url));

async function msOf(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function row(name: string, values: readonly number[], limitMs: number | undefined): BenchRow {
  const value = median(values);
  return {
    name,
    unit: 'ms',
    value,
    spread: spread(values),
    target: limitMs === undefined ? '-' : `< ${limitMs / 1_000} s`,
    met: limitMs === undefined || value < limitMs,
  };
}

export async function run(): Promise<BenchRow[]> {
  const auditAll = (): unknown => charts.map((chart) => auditChart(chart));
  auditAll();
  const audits = await repeat(ROUNDS, () => msOf(auditAll));
  const check = await repeat(ROUNDS, () =>
    msOf(() => runProgram(process.execPath, ['dist/cli/main.js', 'audit', '--check'], { cwd: checkout })),
  );
  const cacheDirectory = mkdtempSync(join(tmpdir(), 'bench-diagrams-'));
  try {
    const descriptions = charts.map((chart) => auditChart(chart).chart);
    const drawAll = async (): Promise<void> => {
      for (const description of descriptions) await renderChart(description, { cacheDirectory });
    };
    const drawn = await msOf(drawAll);
    const cached = await repeat(ROUNDS, () => msOf(drawAll));
    return [
      row(`audit of all ${charts.length} charts, warm`, audits, 2_000),
      row('`wakechart audit --check`, a program from its start', check, 5_000),
      row(`drawing all ${charts.length} charts for the first time, ELK loaded`, [drawn], undefined),
      row('the same, drawn before', cached, undefined),
    ];
  } finally {
    rmSync(cacheDirectory, { recursive: true, force: true });
  }
}
