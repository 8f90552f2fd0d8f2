import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { unreachableTypes } from './public-types.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

describe('the published declarations', () => {
  const { exports } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const entries = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [] : [target.types]));

  it('name no type of ours that cannot be imported from an entry point', () => {
    expect(entries).toContain('./dist/node.d.ts');
    expect(unreachableTypes(checkout, entries)).toEqual([]);
  });
});

describe('a type that nobody can import is found', () => {
  let root = '';

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const found = (files: Readonly<Record<string, string>>, entries: readonly string[] = ['index.d.ts']): string[] => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'types-')));
    for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return unreachableTypes(root, entries).map(({ name, usedBy }) => `${name} <- ${usedBy}`);
  };

  const PARTS = 'export interface Part { readonly x: 1 }\nexport interface Whole { readonly part: Part }\n';

  it.each<[string, Readonly<Record<string, string>>, string[]]>([
    [
      'in a property',
      { 'index.d.ts': "export type { Whole } from './parts.js';", 'parts.d.ts': PARTS },
      ['Part <- Whole'],
    ],
    [
      'in the parameters of a function',
      {
        'index.d.ts': "import type { Part } from './parts.js';\nexport declare function use(part: Part): void;",
        'parts.d.ts': PARTS,
      },
      ['Part <- use'],
    ],
    [
      'behind an import in passing',
      { 'index.d.ts': "export declare const use: import('./parts.js').Part;", 'parts.d.ts': PARTS },
      ['Part <- use'],
    ],
    [
      'behind a type that a file keeps to itself',
      {
        'index.d.ts': "export type { Outer } from './outer.js';",
        'outer.d.ts':
          "import type { Part } from './parts.js';\ninterface Own { part: Part }\nexport interface Outer { own: Own }\nexport {};",
        'parts.d.ts': PARTS,
      },
      ['Part <- Own'],
    ],
    [
      'in the constructor of a class',
      {
        'index.d.ts': "export { Made } from './made.js';",
        'made.d.ts': "import type { Part } from './parts.js';\nexport declare class Made { constructor(part: Part); }",
        'parts.d.ts': PARTS,
      },
      ['Part <- Made'],
    ],
    [
      'in a constant of which more than words is used',
      {
        'index.d.ts': "export type { One } from './parts.js';",
        'parts.d.ts':
          "export interface Part { readonly x: 1 }\nexport declare const all: { one: Part };\nexport type One = (typeof all)['one'];",
      },
      ['Part <- all'],
    ],
    [
      'behind one that is missing itself',
      {
        'index.d.ts': "import type { Whole } from './parts.js';\nexport declare function use(): Whole;",
        'parts.d.ts': PARTS,
      },
      ['Whole <- use', 'Part <- Whole'],
    ],
  ])('%s', (_where, files, expected) => {
    expect(found(files)).toEqual(expected);
  });

  it.each<[string, Readonly<Record<string, string>>, string[] | undefined]>([
    [
      'another entry point exports it',
      {
        'index.d.ts': "export type { Whole } from './parts.js';",
        'more.d.ts': "export type { Part } from './parts.js';",
        'parts.d.ts': PARTS,
      },
      ['index.d.ts', 'more.d.ts'],
    ],
    [
      'it is a part of a constant of which only the words are used',
      {
        'index.d.ts': "export type { Word } from './parts.js';",
        'parts.d.ts':
          "export interface Part { readonly x: 1 }\nexport declare const all: { one: Part; two: Part };\nexport type Word = Exclude<keyof typeof all, 'two'>;",
      },
      undefined,
    ],
    [
      'only the constructor of a class that nobody can call names it',
      {
        'index.d.ts': "export type { Made } from './made.js';",
        'made.d.ts': "import type { Part } from './parts.js';\nexport declare class Made { constructor(part: Part); }",
        'parts.d.ts': PARTS,
      },
      undefined,
    ],
    [
      'it belongs to a dependency',
      {
        'index.d.ts': "import type { Theirs } from 'them';\nexport declare const use: Theirs;",
        'node_modules/them/package.json': '{ "name": "them", "types": "./index.d.ts" }',
        'node_modules/them/index.d.ts': 'export interface Theirs { x: 1 }',
      },
      undefined,
    ],
  ])('and none is when %s', (_why, files, entries) => {
    expect(found(files, entries)).toEqual([]);
  });
});
