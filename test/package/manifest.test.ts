import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
}

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const manifest = JSON.parse(readFileSync(`${checkout}package.json`, 'utf8')) as Manifest;

/** The source that a published file is compiled from. */
const sourceOf = (published: string): string =>
  published.replace(/^(?:\.\/)?dist\//, 'src/').replace(/(?:\.d\.ts|\.js)$/, '.ts');

describe('the package', () => {
  const subpaths = Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [{ subpath, target }],
  );

  it.each(subpaths)('publishes $subpath from one source, with its types', ({ target }) => {
    expect(target.types).toBe(target.default.replace(/\.js$/, '.d.ts'));
    expect(readFileSync(checkout + sourceOf(target.default), 'utf8')).toMatch(/^export /m);
  });

  it.each(Object.entries(manifest.bin))('runs %s as a program of its own', (_, published) => {
    expect(readFileSync(checkout + sourceOf(published), 'utf8').split('\n', 1)[0]).toBe('#!/usr/bin/env node');
  });

  it('carries what a user needs and nothing else', () => {
    expect(manifest.files).toEqual(['dist', 'deploy', 'docs/errors', 'docs/errors.md', 'CHANGELOG.md', 'SECURITY.md']);
  });

  it('asks for the oldest Node that it is tested on', () => {
    expect(manifest.engines.node).toBe('>=20.19');
  });

  it('stays on the minor version of XState whose inside it knows', () => {
    expect(manifest.dependencies['xstate']).toMatch(/^~/);
  });
});
