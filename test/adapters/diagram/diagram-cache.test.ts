/** The cache of drawings. */
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cachedDrawing, forgetDrawings } from '../../../src/adapters/diagram/diagram-cache.ts';
import { sha256Of } from '../../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../../src/adapters/diagram/render-chart.ts';
import { ourChart } from './our-charts.ts';

let folder: string;
let directory: string;
let drawn: number;

const keyOf = (name: string): string => sha256Of(name);
const draw = async (): Promise<string> => {
  drawn += 1;
  return Promise.resolve('<svg/>\n');
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'diagram-cache-'));
  directory = join(folder, 'drawings');
  drawn = 0;
  forgetDrawings();
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('a drawing that was made before', () => {
  it('is not made again, in memory or by another process', async () => {
    await cachedDrawing({ key: keyOf('a'), directory }, draw);
    await cachedDrawing({ key: keyOf('a'), directory }, draw);
    forgetDrawings();
    expect(await cachedDrawing({ key: keyOf('a'), directory }, draw)).toBe('<svg/>\n');
    expect(drawn).toBe(1);
  });

  it('is made once when it is asked for twice at the same time', async () => {
    await Promise.all([
      cachedDrawing({ key: keyOf('a'), directory }, draw),
      cachedDrawing({ key: keyOf('a'), directory }, draw),
    ]);
    expect(drawn).toBe(1);
  });

  it('is made again after the drawing failed', async () => {
    await expect(
      cachedDrawing({ key: keyOf('a'), directory: undefined }, async () => Promise.reject(new Error('no ink'))),
    ).rejects.toThrow('no ink');
    expect(await cachedDrawing({ key: keyOf('a'), directory: undefined }, draw)).toBe('<svg/>\n');
  });

  it('is put into a folder that is given later', async () => {
    await cachedDrawing({ key: keyOf('a'), directory: undefined }, draw);
    await cachedDrawing({ key: keyOf('a'), directory }, draw);
    expect(await readdir(directory)).toEqual([`${keyOf('a')}.svg`]);
  });

  it('is the same from the folder as without it', async () => {
    const chart = ourChart('breaker');
    const plain = await renderChart(chart);
    forgetDrawings();
    const kept = await renderChart(chart, { cacheDirectory: directory });
    forgetDrawings();
    expect([kept, await renderChart(chart, { cacheDirectory: directory })]).toEqual([plain, plain]);
  });
});

describe('the folder', () => {
  it('is private, and holds nothing half written', async () => {
    await cachedDrawing({ key: keyOf('a'), directory }, draw);
    const modes = [
      (await stat(directory)).mode & 0o777,
      (await stat(join(directory, `${keyOf('a')}.svg`))).mode & 0o777,
    ];
    expect(modes).toEqual([0o700, 0o600]);
    expect(await readdir(directory)).toHaveLength(1);
  });

  it.each([
    ['torn', async (path: string) => writeFile(path, (await readFile(path, 'utf8')).slice(0, -2))],
    ['empty', async (path: string) => writeFile(path, '')],
    [
      'changed by somebody',
      async (path: string) => writeFile(path, (await readFile(path, 'utf8')).replace('<svg/>', '<bad/>')),
    ],
    ['a folder', async (path: string) => rm(path).then(async () => mkdir(path))],
    ['a link', async (path: string) => rm(path).then(async () => symlink('/etc/hostname', path))],
  ])('is not believed where a drawing in it is %s', async (_what, spoil) => {
    await cachedDrawing({ key: keyOf('a'), directory }, draw);
    await spoil(join(directory, `${keyOf('a')}.svg`));
    forgetDrawings();
    expect(await cachedDrawing({ key: keyOf('a'), directory }, draw)).toBe('<svg/>\n');
    expect(drawn).toBe(2);
  });

  it('is no reason to fail when it cannot be made', async () => {
    await writeFile(directory, 'a file');
    expect(await cachedDrawing({ key: keyOf('a'), directory }, draw)).toBe('<svg/>\n');
    expect(await readFile(directory, 'utf8')).toBe('a file');
  });

  it('holds so many drawings and no more, and leaves what others put there', async () => {
    await mkdir(directory);
    await writeFile(join(directory, 'notes.svg'), 'of somebody else');
    await Promise.all(
      Array.from({ length: 300 }, async (_, index) => writeFile(join(directory, `${keyOf(String(index))}.svg`), 'old')),
    );
    await cachedDrawing({ key: keyOf('new'), directory }, draw);
    const names = await readdir(directory);
    expect(names).toHaveLength(257);
    expect(names).toEqual(expect.arrayContaining(['notes.svg', `${keyOf('new')}.svg`]));
  });
});
