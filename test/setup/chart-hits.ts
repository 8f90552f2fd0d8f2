/**
 * Every test file says at its end which transitions of the charts the sources took in it:
 * `.build/chart-hits/<pid>-<n>.json`, which `wakechart audit --coverage` reads. Only what the sources do counts; a
 * test that walks along a chart by itself covers nothing.
 */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import { watchCharts } from '../../src/machines/chart-watch.ts';
import { isStartedBySources, seeActors } from './chart-hits-actors.ts';
import { ChartHitsCollector } from './chart-hits-collector.ts';
import { isAskedBySources } from './chart-hits-source.ts';

// Absent under configurations that do not set the folder up.
const folder = inject('chartHitsFolder') as string | undefined;
if (folder !== undefined) collectInto(folder);

function collectInto(directory: string): void {
  const collector = new ChartHitsCollector((actor) =>
    actor === undefined ? isAskedBySources() : isStartedBySources(actor),
  );
  const unwatch = watchCharts((machine, taken, actor) => collector.see(machine, taken, actor));
  let putBack = (): void => undefined;

  beforeAll(async () => {
    // By now the test file has loaded what it needs. Loading XState for one that does not would cost a tenth of its
    // time.
    if (isXStateLoaded())
      putBack = seeActors((await import('xstate')).Actor, (machine, taken, actor) =>
        collector.see(machine, taken, actor),
      );
  });

  afterAll(async () => {
    unwatch();
    putBack();
    const charts = await collector.taken();
    if (charts.length === 0) return;
    // Another run of the same checkout may have cleared it.
    mkdirSync(directory, { recursive: true });
    const mine = `${process.pid}-`;
    const number = readdirSync(directory).filter((name) => name.startsWith(mine) && name.endsWith('.json')).length + 1;
    const path = join(directory, `${mine}${number}.json`);
    // A process that is killed while it writes leaves no half file that the others would be refused with.
    writeFileSync(`${path}.draft`, JSON.stringify({ format: 'chart-hits/1', charts }));
    renameSync(`${path}.draft`, path);
  });
}

function isXStateLoaded(): boolean {
  return Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('/xstate/dist/'));
}
