/**
 * The page of what things cost is made from the results that are kept beside it: whoever takes them anew has to make it
 * anew.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkout, readPage } from './pages.ts';

const RESULTS = 'performance-results.json';
const docs = join(checkout, 'docs');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'costs-'));
  copyFileSync(join(docs, 'costs.md'), join(folder, 'costs.md'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const draw = (results: string): void =>
  void execFileSync(process.execPath, [join(checkout, 'scripts', 'costs-picture.mjs'), results, folder]);
const made = (name: string): string => readFileSync(join(folder, name), 'utf8');

interface Results {
  readonly rows: readonly { readonly name: string; readonly value: number }[];
}

describe('the page of what it costs to run', () => {
  it.each(['costs.md', 'costs.svg', RESULTS])('has a %s as the kept results make it', (name) => {
    draw(join(docs, RESULTS));
    expect(made(name)).toBe(readPage(`docs/${name}`));
  });

  it('keeps what a run of some benches has not measured', () => {
    draw(join(docs, RESULTS));
    const { rows } = JSON.parse(made(RESULTS)) as Results;
    const [first] = rows;
    const run = join(folder, 'run.json');
    writeFileSync(run, JSON.stringify({ node: 'v0.0.0', rows: [{ ...first, node: undefined, value: 123_456 }] }));
    draw(run);
    const after = (JSON.parse(made(RESULTS)) as Results).rows;
    expect(after.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
    expect(after[0]).toMatchObject({ node: 'v0.0.0', value: 123_456 });
    expect(after.slice(1)).toEqual(rows.slice(1));
  });
});
