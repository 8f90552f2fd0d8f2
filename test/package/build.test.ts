import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { build } from '../../scripts/build.mjs';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

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

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'build-'));
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    const base = JSON.parse(readFileSync(join(checkout, 'tsconfig.base.json'), 'utf8')) as { compilerOptions: object };
    write('package.json', '{ "type": "module" }');
    write('tsconfig.base.json', JSON.stringify({ compilerOptions: { ...base.compilerOptions, types: [] } }));
    write('tsconfig.build.json', readFileSync(join(checkout, 'tsconfig.build.json'), 'utf8'));
    write('src/index.ts', "export { one } from './deep/one.ts';\n");
    write('src/deep/one.ts', 'export const one: number = 1;\n');
  });

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

  it('reports type errors each time it is asked, until they are mended', () => {
    write('src/deep/one.ts', "export const one: number = 'one';\n");
    const error = "src/deep/one.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.";
    expect(build(root)).toEqual({ ok: false, output: error });
    expect(build(root)).toEqual({ ok: false, output: error });
    write('src/deep/one.ts', 'export const one: number = 11;\n');
    expect(build(root)).toEqual({ ok: true, output: '' });
  });
});
