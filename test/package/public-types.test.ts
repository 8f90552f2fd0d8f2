import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { publicNames, unreachableTypes } from './public-types.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

describe('the published declarations', () => {
  const { exports } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const entries = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [] : [target.types]));

  it('name each type of ours that a caller holds or that two public names share', () => {
    expect(entries).toContain('./dist/node.d.ts');
    expect(unreachableTypes(checkout, entries)).toEqual([]);
  });

  it('are few, and each name has one entry', () => {
    const names = publicNames(checkout, entries);
    const all = [...names.values()].flat();
    expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
    expect(names.get('./dist/index.d.ts')?.length).toBeLessThanOrEqual(60);
    expect(all.length).toBeLessThanOrEqual(460);
  });
});

describe('a type that needs a name of its own is found', () => {
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
      'in the answer of a function',
      {
        'index.d.ts':
          "import type { Part } from './parts.js';\nexport declare function use(): Promise<readonly Part[]>;",
        'parts.d.ts': PARTS,
      },
      ['Part <- use'],
    ],
    [
      'in the answer of a method',
      {
        'index.d.ts': "export type { Port } from './port.js';",
        'port.d.ts': "import type { Part } from './parts.js';\nexport interface Port { read(): Part | undefined }",
        'parts.d.ts': PARTS,
      },
      ['Part <- Port'],
    ],
    [
      'in the answer of a function, though its file keeps it to itself',
      {
        'index.d.ts': "export { use } from './use.js';",
        'use.d.ts': 'interface Own { readonly x: 1 }\nexport declare function use(): Own;\nexport {};',
      },
      ['Own <- use'],
    ],
    [
      'behind an import in passing',
      { 'index.d.ts': "export declare const use: () => import('./parts.js').Part;", 'parts.d.ts': PARTS },
      ['Part <- use'],
    ],
    [
      'in two public names',
      {
        'index.d.ts':
          "import type { Part } from './parts.js';\nexport type { Whole } from './parts.js';\nexport declare function use(part: Part): void;",
        'parts.d.ts': PARTS,
      },
      ['Part <- use, Whole'],
    ],
    [
      'in two public names, behind what files keep to themselves',
      {
        'index.d.ts': "export type { Outer, Other } from './outer.js';",
        'outer.d.ts':
          "import type { Part } from './parts.js';\ninterface Own { part: Part }\nexport interface Outer { own: Own }\nexport interface Other { own: Own }\nexport {};",
        'parts.d.ts': PARTS,
      },
      ['Part <- Outer, Other'],
    ],
    [
      'in two public names, behind a part of one of them',
      {
        'index.d.ts':
          "import type { Part, Whole } from './parts.js';\nexport declare function one(whole: Whole): void;\nexport declare function other(part: Part): void;",
        'parts.d.ts': PARTS,
      },
      ['Part <- one, other'],
    ],
    [
      'in the constructors of two classes',
      {
        'index.d.ts': "export { Made, MadeToo } from './made.js';",
        'made.d.ts':
          "import type { Part } from './parts.js';\nexport declare class Made { constructor(part: Part); }\nexport declare class MadeToo { constructor(part: Part); }",
        'parts.d.ts': PARTS,
      },
      ['Part <- Made, MadeToo'],
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
      'it is a part of one public name',
      { 'index.d.ts': "export type { Whole } from './parts.js';", 'parts.d.ts': PARTS },
      undefined,
    ],
    [
      'one function takes it',
      {
        'index.d.ts': "import type { Part } from './parts.js';\nexport declare function use(part: Part): void;",
        'parts.d.ts': PARTS,
      },
      undefined,
    ],
    [
      'it comes down to words',
      {
        'index.d.ts': "import type { Word } from './word.js';\nexport declare function use(word: Word): Word;",
        'word.d.ts': "export type Word = 'one' | 'two';",
      },
      undefined,
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
      'only the constructors of classes that a caller cannot make name it',
      {
        'index.d.ts': "export type { Made, MadeToo } from './made.js';",
        'made.d.ts':
          "import type { Part } from './parts.js';\nexport declare class Made { constructor(part: Part); }\nexport declare class MadeToo { constructor(part: Part); }",
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
