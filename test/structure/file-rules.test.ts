import { describe, expect, it } from 'vitest';
import { projectRules } from './project-rules.ts';
import { violationsWith } from './planted-tree.ts';

const at = 'src/machines/bad.ts';

const NO_DOCSTRING = `${at}:1 does not open with a docstring that says what it is; put one above the imports [files-open-with-a-docstring]`;
const NO_ENDING = 'a relative import ends in .ts (.mjs for a script) [relative-imports-name-the-file]';
const ALL_OF_ZOD =
  "imports { z }; write import * as z from 'zod', of which bundlers leave out what is not used [zod-is-a-namespace]";
const EXPORTS_ALL = 'exports everything of another module; name what is public [exports-are-named]';
const DEFAULT_EXPORT = 'has a default export; give it a name [exports-are-named]';
const USES_ANY = `${at}:2 uses any; use unknown and narrow it [any-stays-out]`;
const TOO_LONG = `${at} has 500 lines, at most 499 are allowed; it is two files [files-stay-short]`;

describe('a file that breaks the form of the setup is found, when', () => {
  it.each([
    ['it opens without a docstring', 'export const bad = 1;\n', NO_DOCSTRING],
    ['its docstring is empty', '/** */\nexport const bad = 1;\n', NO_DOCSTRING],
    ['its docstring comes after an import', "import 'zod';\n/** Late. */\n", NO_DOCSTRING],
    ['it is too long', `/** Long. */\n${'\n'.repeat(498)}export const bad = 1;\n`, TOO_LONG],
    ['an import leaves the ending off', "/** Bad. */\nimport './chart';\n", `${at}:2 imports ./chart; ${NO_ENDING}`],
    [
      'an import names the compiled file',
      "/** Bad. */\nimport './chart.js';\n",
      `${at}:2 imports ./chart.js; ${NO_ENDING}`,
    ],
    ['it imports all of zod', "/** Bad. */\nimport { z } from 'zod';\n", `${at}:2 ${ALL_OF_ZOD}`],
    ['it exports everything', "/** Bad. */\nexport * from './chart.ts';\n", `${at}:2 ${EXPORTS_ALL}`],
    [
      'it exports everything under a name',
      "/** Bad. */\nexport * as bad from './chart.ts';\n",
      `${at}:2 ${EXPORTS_ALL}`,
    ],
    ['it has a default export', '/** Bad. */\nexport default 1;\n', `${at}:2 ${DEFAULT_EXPORT}`],
    [
      'its default export is a function',
      '/** Bad. */\nexport default function bad() {}\n',
      `${at}:2 ${DEFAULT_EXPORT}`,
    ],
    [
      'its default export is a renamed one',
      '/** Bad. */\nconst bad = 1;\nexport { bad as default };\n',
      `${at}:3 ${DEFAULT_EXPORT}`,
    ],
    ['it uses any', '/** Bad. */\nexport type Bad = Record<string, any>;\n', USES_ANY],
    ['it casts to any', '/** Bad. */\nexport const bad = (1 as any).x;\n', USES_ANY],
  ])('%s', (_, text, seen) => {
    expect(violationsWith({ [at]: text }, projectRules)).toEqual([seen]);
  });

  it('a file of 499 lines is still one file', () => {
    expect(violationsWith({ [at]: `/** Long. */\n${'\n'.repeat(497)}export const bad = 1;\n` }, projectRules)).toEqual(
      [],
    );
  });

  it('a program of a test may run what was built', () => {
    expect(violationsWith({ 'test/program.mjs': "import '../dist/index.js';\n" }, projectRules)).toEqual([]);
  });

  it('the word any in a comment or a string hurts nobody', () => {
    expect(violationsWith({ [at]: "/** For any reason. */\nexport const bad = 'as any';\n" }, projectRules)).toEqual(
      [],
    );
  });

  it.each(['it.only', 'describe.only', 'test.concurrent.only', 'it.only.each([1])', 'it.skip', 'it.todo'])(
    'a test uses %s',
    (call) => {
      const modifier = /only|skip|todo/.exec(call)?.[0] ?? '';
      expect(violationsWith({ 'test/b.test.ts': `${call}('x', () => {});\n` }, projectRules)).toEqual([
        `test/b.test.ts:1 leaves tests out with .${modifier}; use skipIf(reason) for what a machine cannot do [every-test-runs]`,
      ]);
    },
  );
});

describe('a machine that looks around is found, when', () => {
  it.each([
    ['it reads the clock', 'Date.now()', 'Date.now'],
    ['it makes the present moment', 'new Date()', 'new Date()'],
    ['it prints the present moment', 'Date()', 'new Date()'],
    ['it rolls dice', 'Math.random()', 'Math.random'],
    ['it sets a timer', 'setTimeout(() => {}, 1)', 'setTimeout'],
    ['it passes a timer on', '({ setTimeout })', 'setTimeout'],
    ['it reads the environment', 'process.env', 'process'],
    ['it logs', 'console.log(1)', 'console'],
    ['it makes an id', 'crypto.randomUUID()', 'crypto'],
    ['it goes around through the global object', 'globalThis.Date.now()', 'globalThis'],
  ])('%s', (_, code, name) => {
    expect(violationsWith({ [at]: `/** Bad. */\nexport const bad = () => ${code};\n` }, projectRules)).toEqual([
      `${at}:2 uses ${name}; a machine is a pure function of its input; let an actor bring it in [machines-read-no-surroundings]`,
    ]);
  });

  it.each([
    'new Date(1).toISOString()',
    'Date.UTC(2026, 0)',
    '({ process: 1, console: 2 })',
    '((task: { process: number }) => task.process)',
    '((process: number) => process + 1)',
  ])('and %s is left alone', (code) => {
    expect(violationsWith({ [at]: `/** Good. */\nexport const good = ${code};\n` }, projectRules)).toEqual([]);
  });
});

describe('what the oldest supported Node lacks is found, when', () => {
  it.each([
    ['new AsyncDisposableStack()', 'AsyncDisposableStack, new in Node 24'],
    ['Promise.withResolvers()', 'Promise.withResolvers, new in Node 22'],
  ])('code uses %s', (code, name) => {
    expect(violationsWith({ 'src/actors/bad.ts': `/** Bad. */\nexport const bad = ${code};\n` }, projectRules)).toEqual(
      [`src/actors/bad.ts:2 uses ${name}; Node 20.19 is the floor [nothing-newer-than-the-floor]`],
    );
  });

  it('code imports node:sqlite', () => {
    expect(
      violationsWith({ 'src/adapters/shell/bad.ts': "/** Bad. */\nimport 'node:sqlite';\n" }, projectRules),
    ).toEqual([
      'src/adapters/shell/bad.ts:2 imports node:sqlite; Node 20.19 is the floor [nothing-newer-than-the-floor]',
    ]);
  });
});

describe('what belongs to one machine is found, when', () => {
  const personal = ['', 'home', 'somebody'].join('/');
  const registry = ['https:', '', 'registry.corp.example'].join('/');

  const NO_PATH = 'a path of one machine means nothing on another [no-personal-paths]';
  const NO_REGISTRY = 'which registry to use is a matter of each machine [no-registry-addresses]';

  it.each([
    [
      'a file names a home folder',
      { 'README.md': `See ${personal}/notes.\n` },
      `README.md:1 says ${personal}; ${NO_PATH}`,
    ],
    [
      'a comment names one as an address',
      { 'bench/a.ts': `// file://${personal}/x\n` },
      `bench/a.ts:1 says ${personal}; ${NO_PATH}`,
    ],
    [
      'a script names a registry',
      { 'scripts/a.mjs': `fetch('${registry}/x');\n` },
      `scripts/a.mjs:1 says ${registry}; ${NO_REGISTRY}`,
    ],
    [
      'a setting names a registry',
      { '.npmrc': 'registry=https://example.com/\n' },
      `.npmrc:1 says registry=; ${NO_REGISTRY}`,
    ],
  ])('%s', (_, planted, seen) => {
    expect(violationsWith(planted, projectRules)).toEqual([seen]);
  });

  it('a file has a word of its own for what the field has one for', () => {
    const planted = { 'src/machines/bad.ts': '/** What the whole house shares. */\nexport const bad = 1;\n' };
    expect(violationsWith(planted, projectRules)).toEqual([
      'src/machines/bad.ts:1 says house; say context, ports or runtime; mutex; notification; hook; isolation; hit [words-of-the-field]',
    ]);
  });

  it.each([
    ['/** Looks at the file. */', 'Looks at'],
    ['/** It waits. */ const lookAgainMs = 5;', 'lookAgainMs'],
    ['/** A tree. */ interface TreeLook {}', 'Look'],
  ])('a file says that it looks: %s', (said, word) => {
    const good = '/** What looks like a key is looked up. */ const chartOutlook = looksLikeKey;';
    expect(
      violationsWith(
        { 'src/actors/bad.ts': `${said}\nexport const bad = 1;\n`, 'src/actors/good.ts': good },
        projectRules,
      ),
    ).toEqual([`src/actors/bad.ts:1 says ${word}; say check, read, search or watch [to-check-is-called-so]`]);
  });

  it.each([
    ['src/actors/bad.ts', '/** The standing of a schedule. */', 'standing'],
    ['src/machines/run/bad.ts', '/** CandidateStandings. */', 'Standings'],
    ['src/adapters/postgres/bad.ts', '/** The table schedule_standing. */', 'standing'],
    ['src/adapters/files/bad.ts', '/** The folder substrate-versions. */', 'substrate'],
  ])('a file says standing or substrate: %s: %s', (path, said, word) => {
    const kept = {
      'src/machines/stored-names.ts': said,
      'src/actors/good.ts': '/** Outstanding, an understanding. */',
    };
    expect(violationsWith({ [path]: `${said}\nexport const bad = 1;\n`, ...kept }, projectRules)).toEqual([
      `${path}:1 says ${word}; say health, state, status or liveness; shared files [words-that-only-stores-keep]`,
    ]);
  });

  it.each([
    'createHandCopies()',
    'const handRow = 1;',
    'class SessionHands {}',
    "code('HAND_TOO_LARGE')",
    'SELECT hash FROM hand_piece',
    "join(session, 'hand')",
    "type: 'hand.restored'",
    '// Laid out beside the hand.',
    '// All copies of hands.',
    'await copies.letGo(id)',
    "'session let-go'",
  ])('a file calls a workspace copy, or a release, as no other system does: %s', (text) => {
    expect(violationsWith({ 'src/cli/bad.ts': `/** What is bad. */\n${text}\n` }, projectRules)).toEqual([
      expect.stringMatching(/^src\/cli\/bad\.ts:2 says .*\[a-workspace-copy-is-called-so\]$/),
    ]);
  });

  it('a file may have work in hand, hand it on, and be written by hand', () => {
    const text =
      '/** By hand, at hand, in the hands of; hands it on, hand over. */\nexport const inHand = byHand(handDown);\n';
    expect(violationsWith({ 'src/cli/good.ts': text }, projectRules)).toEqual([]);
  });

  it.each([
    ['src/actors/bad.ts', 'Told to nobody.'],
    ['src/machines/bad.ts', "Nobody's file."],
    ['src/adapters/files/bad.ts', 'Stops whoever asks.'],
    ['src/adapters/system/bad.ts', 'Somebody asks.'],
  ])('a comment does not name what acts: %s: %s', (path, said) => {
    const planted = { [path]: `/** ${said} */\nexport const bad = 'nobody';\n` };
    expect(violationsWith(planted, projectRules)).toEqual([
      expect.stringMatching(
        new RegExp(`^${path}:1 says (?:nobody|somebody|whoever); name what acts: .*\\[what-acts-is-named\\]$`, 'i'),
      ),
    ]);
  });

  it('the lock file fetches from it', () => {
    const lockFile = `{ "packages": {\n"node_modules/x": {\n"resolved": "${registry}/x.tgz" } } }\n`;
    expect(violationsWith({ 'package-lock.json': lockFile }, projectRules)).toEqual([
      expect.stringContaining(
        `package-lock.json:3 says "resolved": "${registry}/x.tgz"; the lock file must install everywhere`,
      ),
    ]);
  });

  it('the lock file knows a tool for one kind of machine only', () => {
    const lockFile = JSON.stringify({
      packages: { 'node_modules/tool': { optionalDependencies: { 'tool-mac': '2.0.0' } } },
    });
    expect(violationsWith({ 'package-lock.json': lockFile }, projectRules)).toEqual([
      expect.stringContaining(
        'package-lock.json lacks tool-mac@2.0.0, which node_modules/tool may need on another machine',
      ),
    ]);
  });
});
