import { describe, expect, it } from 'vitest';
import { METRICS } from '../../src/machines/telemetry/metric-catalog.ts';
import { readPage } from './pages.ts';

const page = readPage('docs/production.md');

describe('the page for operators', () => {
  it('names every metric with its labels, and none that there is not', () => {
    const names = [...page.matchAll(/`((?:wakechart|process)_[a-z_]+)`/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(Object.keys(METRICS)));
    for (const [name, { labels }] of Object.entries(METRICS)) {
      const row = page.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``)) ?? '';
      for (const label of labels) expect(row).toContain(`\`${label}\``);
    }
  });

  it('gives alerts on metrics that there are', () => {
    const used = [...page.matchAll(/(?:wakechart)_[a-z_]+/g)].map(([name]) => name);
    expect(used.filter((name) => !Object.hasOwn(METRICS, name))).toEqual([]);
  });
});
