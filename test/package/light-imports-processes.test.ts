import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { burdensOf, readModuleGraph } from './module-graph.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** Each entry is loaded once, in a process of its own. */
const graphs = new Map<string, ReturnType<typeof readModuleGraph>>();

function graphOf(entry: string): ReturnType<typeof readModuleGraph> {
  const graph = graphs.get(entry) ?? readModuleGraph(checkout, entry);
  graphs.set(entry, graph);
  return graph;
}

describe('the published entry points', () => {
  it.each(['index', 'machines', 'ports'])(
    '%s brings along no adapter, no technology of one and no part of Node',
    async (name) => {
      const graph = await graphOf(`dist/${name}.js`);
      expect(graph.own).toContain(`dist/${name}.js`);
      expect(graph.sources).toContain(`src/${name}.ts`);
      expect(burdensOf(graph)).toEqual([]);
    },
  );

  it('testing brings along nothing but assertions, which every test framework can use', async () => {
    const graph = await graphOf('dist/testing.js');
    expect(graph.own).toContain('dist/testing.js');
    expect(burdensOf(graph).filter((burden) => burden !== 'node:assert/strict')).toEqual([]);
  });

  it('node brings along the adapters it chooses', async () => {
    const burdens = burdensOf(await graphOf('dist/node.js'));
    expect(burdens).toContainEqual(expect.stringMatching(/^src\/adapters\//));
    expect(burdens).toContainEqual(expect.stringMatching(/^node:/));
    // At least one technology of an adapter; which ones load at once, and which when first used, is up to the adapters.
    expect(burdens).toContainEqual(expect.stringMatching(/^(?!dist\/|src\/|node:)/));
  });

  it('node is loaded from a few files', async () => {
    const { own } = await graphOf('dist/node.js');
    expect(own.length).toBeLessThan(35);
  });

  it.each([
    'src/adapters/inspector/',
    'src/adapters/diagram/',
    'src/adapters/stately/',
    'src/adapters/inspection-files/',
  ])('node leaves %s until somebody checks', async (folder) => {
    const { sources } = await graphOf('dist/node.js');
    expect(sources.filter((file) => file.startsWith(folder))).toEqual([]);
  });

  it('node leaves what speaks to MCP servers until one is named', async () => {
    const { sources } = await graphOf('dist/node.js');
    expect(sources).toContain('src/node.ts');
    expect(sources.filter((file) => file.startsWith('src/adapters/mcp/'))).toEqual([]);
  });
});

it('the thread of a worker that watches its parent loads nothing that does something else', async () => {
  const { sources } = await graphOf('dist/cli/main.parent-guard.js');
  expect(sources).toEqual([
    'src/adapters/child-process/parent-guard.ts',
    'src/machines/task/process-stat.ts',
    'src/machines/task/resident-limit.ts',
  ]);
});

describe('a burden is seen', () => {
  let root = '';

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const plant = (files: Readonly<Record<string, string>>): void => {
    root = mkdtempSync(join(tmpdir(), 'burden-'));
    const all = {
      'package.json': '{ "type": "module" }',
      'node_modules/execa/package.json': '{ "name": "execa", "type": "module", "exports": "./index.js" }',
      'node_modules/execa/index.js': 'export const execa = 1;',
      'node_modules/rxjs/package.json': '{ "name": "rxjs", "main": "./index.js" }',
      'node_modules/rxjs/index.js': '',
      'dist/adapters/shell/shell.js': 'export const shell = 1;',
      'dist/actors/act.js': "import 'rxjs';",
      ...files,
    };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };

  const shell = 'dist/adapters/shell/shell.js';

  it.each([
    [
      'when an adapter is imported two steps away',
      {
        'dist/index.js': "import './actors/act.js';",
        'dist/actors/act.js': "export { shell } from '../adapters/shell/shell.js';",
      },
      shell,
    ],
    [
      'when an adapter is imported during evaluation',
      { 'dist/index.js': "await import('./adapters/shell/shell.js');" },
      shell,
    ],
    [
      'when an adapter was bundled into a file that is imported',
      {
        'dist/index.js': "import './shared/one.js';",
        'dist/shared/one.js': '',
        '.build/dist.stamp.json': '{ "bundled": { "shared/one.js": ["src/adapters/shell/shell.ts"] } }',
      },
      'src/adapters/shell/shell.ts',
    ],
    ['when a package of an adapter is imported', { 'dist/index.js': "import 'execa';" }, 'execa'],
    ['when a part of Node is imported', { 'dist/index.js': "import 'node:fs';" }, 'node:fs'],
    [
      'when a package without modules requires a part of Node',
      { 'dist/index.js': "import 'rxjs';", 'node_modules/rxjs/index.js': "require('child_process');" },
      'node:child_process',
    ],
  ])('%s', async (_, files, burden) => {
    plant(files);
    expect(burdensOf(await readModuleGraph(root, 'dist/index.js'))).toEqual([burden]);
  });

  it('and nothing is seen where there is none', async () => {
    plant({ 'dist/index.js': "import './actors/act.js';" });
    const graph = await readModuleGraph(root, 'dist/index.js');
    expect(graph).toEqual({
      own: ['dist/actors/act.js', 'dist/index.js'],
      sources: [],
      packages: ['rxjs'],
      builtins: [],
    });
    expect(burdensOf(graph)).toEqual([]);
  });
});
