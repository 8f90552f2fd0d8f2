import { describe, expect, it } from 'vitest';
import { projectRules } from './project-rules.ts';
import { violationsWith } from './planted-tree.ts';
import type { Planted } from './planted-tree.ts';

/** A file that opens as files do, so that only what is planted below it can offend. */
const file = (code: string): string => `/** Planted. */\n${code}\n`;

const CHOSEN =
  'only src/http.ts, src/machines.ts, src/node.ts, src/postgres.ts, src/subagent-worker.ts, src/node and src/cli choose them [adapters-are-chosen-in-two-places]';
const GONE = 'is guarded by this rule and is not there; move the rule with it';

interface Plant {
  readonly what: string;
  readonly planted: Planted;
  readonly seen: string;
}

describe('an import against the direction of the rooms is found, when', () => {
  const plants: readonly Plant[] = [
    {
      what: 'a machine imports an actor',
      planted: { 'src/machines/bad.ts': file("import { act } from '../actors/act.ts';\nexport const bad = act;") },
      seen: 'src/machines/bad.ts:2 imports src/actors/act.ts; it may use only machines [machines-are-pure]',
    },
    {
      what: 'a machine imports only a type of an actor',
      planted: {
        'src/machines/bad.ts': file("import type { Port } from '../actors/act.ts';\nexport type Bad = Port;"),
      },
      seen: 'src/machines/bad.ts:2 imports src/actors/act.ts; it may use only machines [machines-are-pure]',
    },
    {
      what: 'a machine names a type of an adapter in passing',
      planted: { 'src/machines/bad.ts': file("export type Bad = import('../adapters/shell/shell.ts').Shell;") },
      seen: 'src/machines/bad.ts:2 imports src/adapters/shell/shell.ts; it may use only machines [machines-are-pure]',
    },
    {
      what: 'a machine re-exports an actor',
      planted: { 'src/machines/bad.ts': file("export { act } from '../actors/act.ts';") },
      seen: 'src/machines/bad.ts:2 imports src/actors/act.ts; it may use only machines [machines-are-pure]',
    },
    {
      what: 'a machine imports an actor later, at run time',
      planted: { 'src/machines/bad.ts': file("export const bad = () => import('../actors/act.ts');") },
      seen: 'src/machines/bad.ts:2 imports src/actors/act.ts; it may use only machines [machines-are-pure]',
    },
    {
      what: 'a machine imports a package of the rooms above',
      planted: { 'src/machines/bad.ts': file("import 'rxjs';") },
      seen: 'src/machines/bad.ts:2 imports rxjs; it may use only xstate, zod [machines-are-pure]',
    },
    {
      what: 'a machine imports a part of Node',
      planted: {
        'src/machines/bad.ts': file("import { randomUUID } from 'node:crypto';\nexport const bad = randomUUID;"),
      },
      seen: 'src/machines/bad.ts:2 imports node:crypto; it may use only xstate, zod [machines-are-pure]',
    },
    {
      what: 'a machine imports the composition',
      planted: { 'src/machines/bad.ts': file("import { run } from '../runtime.ts';\nexport const bad = run;") },
      seen: 'src/machines/bad.ts:2 imports src/runtime.ts; it may use only machines [machines-are-pure]',
    },
    {
      what: 'an actor imports an adapter',
      planted: {
        'src/actors/bad.ts': file("import { shell } from '../adapters/shell/shell.ts';\nexport const bad = shell;"),
      },
      seen: 'src/actors/bad.ts:2 imports src/adapters/shell/shell.ts; it may use only machines, actors [actors-know-no-adapter]',
    },
    {
      what: 'an actor imports a part of Node',
      planted: {
        'src/actors/bad.ts': file("import { readFileSync } from 'node:fs';\nexport const bad = readFileSync;"),
      },
      seen: 'src/actors/bad.ts:2 imports node:fs; it may use only xstate, rxjs [actors-know-no-adapter]',
    },
    {
      what: 'an actor imports the technology of an adapter',
      planted: { 'src/actors/bad.ts': file("import { execa } from 'execa';\nexport const bad = execa;") },
      seen: 'src/actors/bad.ts:2 imports execa; it may use only xstate, rxjs [actors-know-no-adapter]',
    },
    {
      what: 'an adapter imports another',
      planted: {
        'src/adapters/git/bad.ts': file("import { shell } from '../shell/shell.ts';\nexport const bad = shell;"),
      },
      seen:
        'src/adapters/git/bad.ts:2 imports src/adapters/shell/shell.ts; an adapter never imports another but system, ' +
        'only src/node and src/cli choose among them [adapters-stand-alone]',
    },
    {
      what: 'the primitives that all adapters share import one of them',
      planted: {
        'src/adapters/system/bad.ts': file("import { shell } from '../shell/shell.ts';\nexport const bad = shell;"),
      },
      seen:
        'src/adapters/system/bad.ts:2 imports src/adapters/shell/shell.ts; an adapter never imports another but system, ' +
        'only src/node and src/cli choose among them [adapters-stand-alone]',
    },
    {
      what: 'an adapter imports the composition root',
      planted: { 'src/adapters/git/bad.ts': file("import { node } from '../../node.ts';\nexport const bad = node;") },
      seen: 'src/adapters/git/bad.ts:2 imports src/node.ts; an adapter knows ports and data, not who composes it [adapters-stand-alone]',
    },
    {
      what: 'an adapter imports the command line',
      planted: {
        'src/adapters/git/bad.ts': file("import { main } from '../../cli/main.ts';\nexport const bad = main;"),
      },
      seen: 'src/adapters/git/bad.ts:2 imports src/cli/main.ts; an adapter knows ports and data, not who composes it [adapters-stand-alone]',
    },
    {
      what: 'the runtime of a machine imports the command line',
      planted: { 'src/node/bad.ts': file("import { main } from '../cli/main.ts';\nexport const bad = main;") },
      seen: 'src/node/bad.ts:2 imports src/cli/main.ts; the command line is made of the runtime [node-knows-no-command-line]',
    },
    {
      what: 'the root entry point imports an adapter',
      planted: { 'src/index.ts': file("export { shell } from './adapters/shell/shell.ts';") },
      seen: `src/index.ts:2 reaches adapters through src/adapters/shell/shell.ts; ${CHOSEN}`,
    },
    {
      what: 'the runtime imports the composition root',
      planted: {
        'src/runtime.ts': file("export { node as run } from './node.ts';"),
        'src/node.ts': file('export const node = 1;'),
      },
      seen: `src/runtime.ts:2 reaches adapters through src/node.ts; ${CHOSEN}`,
    },
    {
      what: 'a new file of the source root imports an adapter',
      planted: { 'src/extra.ts': file("export { shell } from './adapters/shell/shell.ts';") },
      seen: `src/extra.ts:2 reaches adapters through src/adapters/shell/shell.ts; ${CHOSEN}`,
    },
    {
      what: 'the charts entry point reaches into the actors',
      planted: { 'src/machines.ts': file("export { act } from './actors/act.ts';") },
      seen: 'src/machines.ts:2 imports src/actors/act.ts; it may use only machines [entry-points-are-made-of-their-rooms]',
    },
    {
      what: 'an entry point imports a part of Node',
      planted: {
        'src/ports.ts': file("export type { Stats } from 'node:fs';\nexport type { Port } from './actors/act.ts';"),
      },
      seen: 'src/ports.ts:2 imports node:fs; it may use only xstate, zod, rxjs [entry-points-are-made-of-their-rooms]',
    },
    {
      what: 'a contract needs a package',
      planted: { 'src/testing/bad.ts': file("import { it } from 'zod';\nexport const bad = it;") },
      seen: 'src/testing/bad.ts:2 imports zod; it may use only node:assert/strict, xstate, fast-check [testing-needs-no-framework]',
    },
    {
      what: 'a contract uses another part of Node than its assertions',
      planted: { 'src/testing/bad.ts': file("import { ok } from 'node:assert';\nexport const bad = ok;") },
      seen: 'src/testing/bad.ts:2 imports node:assert; it may use only node:assert/strict, xstate, fast-check [testing-needs-no-framework]',
    },
    {
      what: 'a contract imports an adapter',
      planted: {
        'src/testing/bad.ts': file("import { shell } from '../adapters/shell/shell.ts';\nexport const bad = shell;"),
      },
      seen: 'src/testing/bad.ts:2 imports src/adapters/shell/shell.ts; it may use only machines, actors, testing [testing-needs-no-framework]',
    },
    {
      what: 'a contract imports the composition root',
      planted: { 'src/testing/bad.ts': file("import { node } from '../node.ts';\nexport const bad = node;") },
      seen: 'src/testing/bad.ts:2 imports src/node.ts; it may use only machines, actors, testing [testing-needs-no-framework]',
    },
    {
      what: 'an adapter uses what ships for tests',
      planted: {
        'src/adapters/git/bad.ts': file("import { suite } from '../../testing/suite.ts';\nexport const bad = suite;"),
      },
      seen: 'src/adapters/git/bad.ts:2 imports src/testing/suite.ts, which ships for tests [testing-is-for-tests]',
    },
    {
      what: 'the command line uses what ships for tests',
      planted: { 'src/cli/bad.ts': file("import { suite } from '../testing.ts';\nexport const bad = suite;") },
      seen: 'src/cli/bad.ts:2 imports src/testing.ts, which ships for tests [testing-is-for-tests]',
    },
    {
      what: 'the composition root uses what ships for tests',
      planted: { 'src/node.ts': file("export { suite } from './testing.ts';") },
      seen: 'src/node.ts:2 imports src/testing.ts, which ships for tests [testing-is-for-tests]',
    },
    {
      what: 'an actor uses what ships for tests',
      planted: { 'src/actors/bad.ts': file("import { suite } from '../testing/suite.ts';\nexport const bad = suite;") },
      seen: 'src/actors/bad.ts:2 imports src/testing/suite.ts; it may use only machines, actors [actors-know-no-adapter]',
    },
    {
      what: 'the root entry point brings along what ships for tests',
      planted: { 'src/index.ts': file("export { suite } from './testing/suite.ts';") },
      seen: 'src/index.ts:2 imports src/testing/suite.ts; it may use only machines, actors, root [entry-points-are-made-of-their-rooms]',
    },
    {
      what: 'the testing entry point imports an adapter',
      planted: { 'src/testing.ts': file("export { shell } from './adapters/shell/shell.ts';") },
      seen: `src/testing.ts:2 reaches adapters through src/adapters/shell/shell.ts; ${CHOSEN}`,
    },
    {
      what: 'a folder beside the five opens',
      planted: { 'src/utils/bad.ts': file('export const bad = 1;') },
      seen: 'src/utils/bad.ts lies in src/utils; the folders are machines, actors, adapters, node, cli [every-file-has-its-folder]',
    },
    {
      what: 'a file lies between the adapters',
      planted: { 'src/adapters/shared.ts': file('export const bad = 1;') },
      seen: 'src/adapters/shared.ts lies beside the adapters; each technology has a folder of its own [every-file-has-its-folder]',
    },
  ];

  it.each(plants)('$what', ({ planted, seen }) => {
    expect(violationsWith(planted, projectRules)).toEqual([seen]);
  });
});

describe('an import that hides where it leads is found, when', () => {
  const plants: readonly Plant[] = [
    {
      what: 'its name is computed',
      planted: { 'src/adapters/git/bad.ts': file("export const bad = (name: string) => import('../' + name);") },
      seen: 'src/adapters/git/bad.ts:2 imports a computed name; write it out, so that the direction can be checked [imports-can-be-read]',
    },
    {
      what: 'it is a place on a machine',
      planted: { 'src/adapters/git/bad.ts': file("import '/opt/thing.js';") },
      seen: 'src/adapters/git/bad.ts:2 imports /opt/thing.js; name a package or a relative path [imports-can-be-read]',
    },
    {
      what: 'it leaves the source folder',
      planted: { 'src/adapters/git/bad.ts': file("import '../../../test/a.test.ts';") },
      seen: 'src/adapters/git/bad.ts:2 imports test/a.test.ts, which lies outside src [imports-can-be-read]',
    },
    {
      what: 'it goes around through the name of this package',
      planted: { 'src/adapters/git/bad.ts': file("import { node } from 'planted/node';\nexport const bad = node;") },
      seen: 'src/adapters/git/bad.ts:2 imports planted/node; inside src, import the file itself [packages-are-declared]',
    },
    {
      what: 'it is a package that only developers have',
      planted: { 'src/adapters/git/bad.ts': file("import { vi } from 'vitest';\nexport const bad = vi;") },
      seen: 'src/adapters/git/bad.ts:2 imports vitest, which is neither a dependency nor a peer dependency [packages-are-declared]',
    },
    {
      what: 'the page would bring what no browser has',
      planted: {
        'src/adapters/inspector-page/bad.tsx': file(
          "import { readFile } from 'node:fs/promises';\nexport const bad = readFile;",
        ),
      },
      seen: 'src/adapters/inspector-page/bad.tsx:2 imports node:fs/promises; the page may use only preact, @preact/signals [page-runs-in-browsers]',
    },
    {
      what: 'the page would run what lives in the runtime',
      planted: {
        'src/actors/task/task.ts': file('export const task = 1;'),
        'src/adapters/inspector-page/bad.tsx': file(
          "import { task } from '../../actors/task/task.ts';\nexport const bad = task;",
        ),
      },
      seen: 'src/adapters/inspector-page/bad.tsx:2 imports src/actors/task/task.ts; the page may use data, the types of ports, and itself [page-runs-in-browsers]',
    },
    {
      what: 'it is a part of Node that could be a package',
      planted: { 'src/adapters/git/bad.ts': file("const fs = require('fs');\nexport const bad = fs;") },
      seen: 'src/adapters/git/bad.ts:2 imports fs; write node:fs [packages-are-declared]',
    },
  ];

  it.each(plants)('$what', ({ planted, seen }) => {
    expect(violationsWith(planted, projectRules)).toEqual([seen]);
  });
});

describe('a circle of imports is found, when', () => {
  const CIRCLE = 'move what both sides need to the file that owns it, below both [imports-make-no-circle]';
  const plants: readonly Plant[] = [
    {
      what: 'two files import types of each other',
      planted: {
        'src/machines/one.ts': file("import type { Two } from './two.ts';\nexport type One = Two;"),
        'src/machines/two.ts': file("import type { One } from './one.ts';\nexport type Two = One | 1;"),
      },
      seen: `src/machines/one.ts:2 imports in a circle: src/machines/one.ts -> src/machines/two.ts -> src/machines/one.ts; ${CIRCLE}`,
    },
    {
      what: 'it is closed by what is exported again, named in passing, and loaded later',
      planted: {
        'src/actors/a.ts': file("\nexport { b } from './b.ts';"),
        'src/actors/b.ts': file("export const b: import('./c.ts').C = 1;"),
        'src/actors/c.ts': file("export type C = 1;\nexport const c = () => import('./a.ts');"),
      },
      seen: `src/actors/a.ts:3 imports in a circle: src/actors/a.ts -> src/actors/b.ts -> src/actors/c.ts -> src/actors/a.ts; ${CIRCLE}`,
    },
    {
      what: 'a file imports itself',
      planted: { 'src/machines/one.ts': file("import type { One } from './one.ts';\nexport type Two = One;") },
      seen: `src/machines/one.ts:2 imports in a circle: src/machines/one.ts -> src/machines/one.ts; ${CIRCLE}`,
    },
    {
      what: 'a short one hides in a long one',
      planted: {
        'src/machines/a.ts': file("import './b.ts';\nimport './c.ts';"),
        'src/machines/b.ts': file("import './c.ts';"),
        'src/machines/c.ts': file("import './a.ts';"),
      },
      seen: `src/machines/a.ts:3 imports in a circle: src/machines/a.ts -> src/machines/c.ts -> src/machines/a.ts; ${CIRCLE}`,
    },
  ];

  it.each(plants)('$what', ({ planted, seen }) => {
    expect(violationsWith(planted, projectRules)).toEqual([seen]);
  });

  it('and files that share what they import make none', () => {
    const planted = {
      'src/machines/a.ts': file("import './b.ts';\nimport './c.ts';"),
      'src/machines/b.ts': file("import './c.ts';"),
      'src/machines/c.ts': file('export const c = 1;'),
    };
    expect(violationsWith(planted, projectRules)).toEqual([]);
  });
});

describe('a rule whose room is gone', () => {
  it.each([
    ['src/actors', 'actors-know-no-adapter', { 'src/actors/act.ts': undefined }],
    [
      'src/testing',
      'testing-needs-no-framework',
      { 'src/testing/suite.ts': undefined, 'src/testing/fixture.ts': undefined },
    ],
    [
      'src/cli',
      'adapters-are-chosen-in-two-places',
      { 'src/cli/main.ts': undefined, 'src/cli/audit/chart-module.ts': undefined },
    ],
    ['src/node.ts', 'adapters-are-chosen-in-two-places', { 'src/node.ts': undefined }],
    ['src/machines.ts', 'adapters-are-chosen-in-two-places', { 'src/machines.ts': undefined }],
    ['src/cli/audit/chart-module.ts', 'imports-can-be-read', { 'src/cli/audit/chart-module.ts': undefined }],
    [
      'src/node',
      'adapters-are-chosen-in-two-places',
      { 'src/node/config-module.ts': undefined, 'src/node/subagents.ts': undefined },
    ],
    ['src/node/config-module.ts', 'imports-can-be-read', { 'src/node/config-module.ts': undefined }],
    ['src/subagent-worker.ts', 'adapters-are-chosen-in-two-places', { 'src/subagent-worker.ts': undefined }],
    ['src/http.ts', 'adapters-are-chosen-in-two-places', { 'src/http.ts': undefined }],
    ['src/postgres.ts', 'adapters-are-chosen-in-two-places', { 'src/postgres.ts': undefined }],
    ['src/ports.ts', 'entry-points-are-made-of-their-rooms', { 'src/ports.ts': undefined }],
    ['src/testing.ts', 'testing-is-for-tests', { 'src/testing.ts': undefined }],
    ['package-lock.json', 'lock-file-is-portable', { 'package-lock.json': undefined }],
  ] satisfies readonly (readonly [string, string, Planted])[])('says that %s is not there', (path, rule, planted) => {
    expect(violationsWith(planted, projectRules)).toContain(`${path} ${GONE} [${rule}]`);
  });

  it('says so for every path that any rule guards', () => {
    const moved = projectRules.map((rule) => ({ ...rule, guards: rule.guards.map((path) => `gone/${path}`) }));
    const expected = moved.flatMap(({ name, guards }) => guards.map((path) => `${path} ${GONE} [${name}]`));
    expect(violationsWith({}, moved).toSorted()).toEqual(expected.toSorted());
  });
});
