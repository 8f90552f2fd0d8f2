/** Where the program of workers is searched for. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getDefaultSubagentWorkerPath } from '../../../src/adapters/child-process/default-worker-path.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'package with spaces-'));
  await mkdir(join(root, 'dist', 'shared'), { recursive: true });
  await writeFile(join(root, 'package.json'), '{"name":"wakechart"}');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const from = (...path: readonly string[]): string => pathToFileURL(join(root, ...path)).href;

describe('the program of workers', () => {
  it('is found from the sources, from the compiled files, and from whatever they are bundled into', async () => {
    const path = join(root, 'dist', 'subagent-worker.js');
    await writeFile(path, '');
    for (const module of [
      ['src', 'adapters', 'child-process', 'default-worker-path.ts'],
      ['dist', 'adapters', 'child-process', 'default-worker-path.js'],
      ['dist', 'shared', 'part.js'],
      ['dist', 'node.js'],
    ]) {
      expect(getDefaultSubagentWorkerPath(from(...module))).toBe(path);
    }
  });

  it('is missed clearly before a build, and outside of the package', async () => {
    expect(() => getDefaultSubagentWorkerPath(from('src', 'a.ts'))).toThrow(/subagent-worker.js is not there/);
    await writeFile(join(root, 'package.json'), '{"name":"somebody-elses-bundle"}');
    expect(() => getDefaultSubagentWorkerPath(from('dist', 'a.js'))).toThrow(
      expect.objectContaining({
        code: 'SUBAGENT_WORKER_MISSING',
        category: 'validation',
        hint: expect.stringContaining('workerPath') as string,
      }) as Error,
    );
    await writeFile(join(root, 'package.json'), 'no JSON');
    expect(() => getDefaultSubagentWorkerPath(from('dist', 'a.js'))).toThrow(/is the package wakechart/);
  });
});
