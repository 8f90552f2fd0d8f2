/** The same benches under two versions of Node, beside each other: `npm run bench -- --nodes [NAME …]`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { BenchRow } from './harness.ts';

const OTHER = 'node@24';

export interface Results {
  readonly node: string;
  readonly rows: readonly BenchRow[];
}

/** Runs them one version after the other: together they would take the processor from each other. */
export function resultsOfNodes(program: string, names: readonly string[], resultsPath: string): readonly Results[] {
  const other = execFileSync('npx', ['-y', '-p', OTHER, 'node', '-p', 'process.execPath'], { encoding: 'utf8' }).trim();
  return [process.execPath, other].map((node) => {
    const { status } = spawnSync(node, ['--expose-gc', program, ...names], { stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) throw new Error(`the benches ended with exit code ${status} under ${node}`);
    return JSON.parse(readFileSync(resultsPath, 'utf8')) as Results;
  });
}

/** A line for each bench; a ratio where there is one, else the value. */
export function besideEachOther(results: readonly Results[]): readonly (readonly string[])[] {
  const names = [...new Set(results.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  const told = ({ value, unit, ratio, met }: BenchRow): string =>
    `${Number(value.toPrecision(3))} ${unit}${ratio === undefined ? '' : `, ratio ${ratio.toFixed(2)}`}${met ? '' : ' (NOT MET)'}`;
  const lines = names.map((name) => {
    const found = results.map(({ rows }) => rows.find((row) => row.name === name));
    return [
      name,
      ...found.map((row) => (row === undefined ? '' : told(row))),
      found.find((row) => row !== undefined)?.target ?? '',
    ];
  });
  return [['bench', ...results.map(({ node }) => node), 'target'], ...lines];
}
