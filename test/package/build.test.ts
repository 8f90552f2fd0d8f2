import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { build } from '../../scripts/build.mjs';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const builder = new URL('../../scripts/build.mjs', import.meta.url).href;

it('the sources compile without a complaint', () => {
  expect(inject('buildErrors')).toBe('');
});

describe('a build', () => {
  let root = '';

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const isBuilt = (path: string): boolean => existsSync(join(root, 'dist', path));

  const makeRoot = (): string => {
    root = mkdtempSync(join(tmpdir(), 'build-'));
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    const base = JSON.parse(readFileSync(join(checkout, 'tsconfig.base.json'), 'utf8')) as { compilerOptions: object };
    write('package.json', '{ "type": "module" }');
    write('tsconfig.base.json', JSON.stringify({ compilerOptions: { ...base.compilerOptions, types: [] } }));
    write('tsconfig.build.json', readFileSync(join(checkout, 'tsconfig.build.json'), 'utf8'));
    write('src/index.ts', "export { one } from './deep/one.ts';\n");
    write('src/deep/one.ts', 'export const one: number = 1;\n');
    return root;
  };

  beforeEach(makeRoot);

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('compiles what is there, with relative imports that Node understands', () => {
    expect(build(root)).toEqual({ ok: true, output: '' });
    expect(readFileSync(join(root, 'dist/index.js'), 'utf8')).toMatch(/from ['"]\.\/deep\/one\.js['"]/);
    expect(isBuilt('deep/one.d.ts')).toBe(true);
  });

  it('does nothing when nothing changed', () => {
    build(root);
    const before = statSync(join(root, '.build/tsconfig.build.tsbuildinfo')).mtimeMs;
    build(root);
    expect(statSync(join(root, '.build/tsconfig.build.tsbuildinfo')).mtimeMs).toBe(before);
  });

  it('brings back what somebody deleted from dist', () => {
    build(root);
    rmSync(join(root, 'dist/deep'), { recursive: true });
    expect(build(root).ok).toBe(true);
    expect(isBuilt('deep/one.js') && isBuilt('deep/one.d.ts')).toBe(true);
  });

  it('removes what it made of a source that is gone, and leaves other files alone', () => {
    build(root);
    write('dist/page.html', '<p>');
    write('src/index.ts', 'export const one = 1;\n');
    rmSync(join(root, 'src/deep'), { recursive: true });
    build(root);
    expect({ orphan: isBuilt('deep/one.js'), types: isBuilt('deep/one.d.ts'), page: isBuilt('page.html') }).toEqual({
      orphan: false,
      types: false,
      page: true,
    });
  });

  describe('of a package with entry points', () => {
    const textOf = (path: string): string => readFileSync(join(root, 'dist', path), 'utf8');
    const run = (path: string): string =>
      execFileSync(process.execPath, [join(root, 'dist', path)], { encoding: 'utf8' });

    let built = '';
    let firstBuild: unknown;

    // Built once: what a test changes, it changes in a copy, in which nothing has to be built again.
    beforeAll(() => {
      built = makeRoot();
      root = built;
      write(
        'package.json',
        JSON.stringify({
          type: 'module',
          exports: { '.': { default: './dist/index.js' }, './other': { default: './dist/other.js' } },
          bin: { it: 'dist/deep/main.js' },
          dependencies: { zod: '*' },
        }),
      );
      write('src/index.ts', "export { one } from './deep/one.ts';\nexport { z } from 'zod';\n");
      write('src/other.ts', "export { one } from './deep/one.ts';\nexport const two: number = 2;\n");
      write(
        'src/deep/main.ts',
        "#!/usr/bin/env node\nimport { z } from 'zod';\nimport { one } from './one.ts';\nconst { late } = await import('./late.ts');\nprocess.stdout.write(z.string().parse(`${one} ${late}`));\n",
      );
      write('src/deep/late.ts', "export const late: string = 'late';\n");
      write('src/deep/globals.d.ts', 'declare const process: { readonly stdout: { write(text: string): void } };\n');
      // A copy keeps times to the second only.
      const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((file) =>
        join('src', file),
      );
      for (const file of [...sources, 'package.json', 'tsconfig.base.json', 'tsconfig.build.json'])
        utimesSync(join(root, file), 1_000_000_000, 1_000_000_000);
      firstBuild = build(root);
    });

    beforeEach(() => {
      rmSync(root, { recursive: true, force: true });
      cpSync(built, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    });

    afterAll(() => {
      rmSync(built, { recursive: true, force: true });
    });

    it('puts what they share into one file, and keeps the other files', () => {
      expect(firstBuild).toEqual({ ok: true, output: '' });
      const shared = /from ['"](?<file>\.\/shared\/one\.js)['"]/;
      expect(shared.exec(textOf('index.js'))?.groups?.['file']).toBe(shared.exec(textOf('other.js'))?.groups?.['file']);
      // An entry only says in which files lies what it gives.
      const lying = [...textOf('index.js').matchAll(/from ['"]\.\/(?<file>shared\/[^'"]+)['"]/g)];
      expect(lying.map(({ groups }) => textOf(groups?.['file'] ?? '')).join('\n')).toMatch(/from ['"]zod['"]/);
      expect({ own: isBuilt('deep/one.js'), types: isBuilt('other.d.ts'), shared: isBuilt('shared/one.js') }).toEqual({
        own: true,
        types: true,
        shared: true,
      });
    });

    it('makes a program that has its packages with it, with their licenses, and loads the rest on demand', () => {
      rmSync(join(root, 'node_modules'));
      expect(run('deep/main.js')).toBe('1 late');
      expect(textOf('deep/main.js').split('\n', 1)).toEqual(['#!/usr/bin/env node']);
      expect(textOf('deep/main.js')).toMatch(/zod \d[^\n]* \(MIT\)[^]+Permission is hereby granted/);
      expect(isBuilt('deep/main.late.js')).toBe(true);
    });

    it('leaves out of a program what only those have who installed it', () => {
      write('package.json', readFileSync(join(root, 'package.json'), 'utf8').replace('{"zod":"*"}', '{}'));
      build(root);
      expect(textOf('deep/main.js')).toMatch(/from ['"]zod['"]/);
      expect(run('deep/main.js')).toBe('1 late');
    });

    it('brings back what somebody deleted of what was bundled', () => {
      for (const folder of ['shared', 'deep']) rmSync(join(root, 'dist', folder), { recursive: true });
      expect(build(root).ok).toBe(true);
      expect({
        shared: isBuilt('shared/one.js'),
        late: isBuilt('deep/main.late.js'),
        program: run('deep/main.js'),
      }).toEqual({ shared: true, late: true, program: '1 late' });
    });

    it('removes what was bundled of a source that is gone', () => {
      write(
        'src/deep/main.ts',
        "#!/usr/bin/env node\nimport { one } from './one.ts';\nprocess.stdout.write(`${one}`);\n",
      );
      rmSync(join(root, 'src/deep/late.ts'));
      build(root);
      expect({ late: isBuilt('deep/main.late.js'), program: run('deep/main.js') }).toEqual({
        late: false,
        program: '1',
      });
    });

    it('touches nothing when nothing changed', () => {
      const stampOf = (path: string): unknown[] => [statSync(join(root, path)).mtimeMs, statSync(join(root, path)).ino];
      const files = ['dist/deep/main.js', '.build/dist.stamp.json'];
      const before = files.map(stampOf);
      build(root);
      expect(files.map(stampOf)).toEqual(before);
    });

    it('has two builds at once leave what one would have left', async () => {
      rmSync(join(root, 'dist'), { recursive: true });
      const both = await Promise.all(
        [1, 2].map(() =>
          promisify(execFile)(process.execPath, [
            '-e',
            `import(${JSON.stringify(builder)}).then(({ build }) => console.log(JSON.stringify(build(${JSON.stringify(root)}))))`,
          ]),
        ),
      );
      expect(both.map(({ stdout }) => stdout.trim())).toEqual(['{"ok":true,"output":""}', '{"ok":true,"output":""}']);
      expect(run('deep/main.js')).toBe('1 late');
      expect(
        readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.tmp')),
      ).toEqual([]);
    });

    it('runs what the sources say also where they cannot be bundled, and says so each time', () => {
      write('src/other.ts', "export { nothing } from './deep/missing.ts';\n");
      write('src/deep/late.ts', "export const late: string = 'later';\n");
      const { ok, output } = build(root);
      expect(ok).toBe(false);
      expect(output).toMatch(
        /src\/other\.ts\(1,25\): error TS2307[^]*the entry points could not be bundled:[^]*missing\.ts/,
      );
      expect(build(root)).toEqual({ ok, output });
      expect(run('deep/main.js')).toBe('1 later');
      expect(isBuilt('deep/main.late.js')).toBe(false);
    });
  });

  it('reports type errors each time it is asked, until they are mended', () => {
    write('src/deep/one.ts', "export const one: number = 'one';\n");
    const error = "src/deep/one.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.";
    expect(build(root)).toEqual({ ok: false, output: error });
    expect(build(root)).toEqual({ ok: false, output: error });
    write('src/deep/one.ts', 'export const one: number = 11;\n');
    expect(build(root)).toEqual({ ok: true, output: '' });
  });
});
