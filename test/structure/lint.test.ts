import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const oxlint = join(dirname(createRequire(import.meta.url).resolve('oxlint/package.json')), 'bin/oxlint');

const STATUS = "type Status = 'open' | 'closed' | 'gone';";

const RANK = `${STATUS}\nexport function rank(status: Status): number {\n  switch (status) {\n`;

const lines = (...code: string[]): string => `${code.join('\n')}\n`;

/** Files that each break one rule, and the rule. One run lints them all. */
const OFFENSES: Readonly<Record<string, readonly [rule: string, code: string]>> = {
  'src/floating.ts': [
    'typescript(no-floating-promises)',
    lines('const work = async (): Promise<void> => {};', 'export function start(): void {', '  work();', '}'),
  ],
  'src/misused.ts': [
    'typescript(no-misused-promises)',
    lines(
      'const work = async (): Promise<void> => {};',
      'export const start = (): void => [1].forEach(async () => work());',
    ),
  ],
  'src/await.ts': [
    'typescript(await-thenable)',
    lines('const one = (): number => 1;', 'export const two = async (): Promise<number> => (await one()) + 1;'),
  ],
  'src/switch.ts': [
    'typescript(switch-exhaustiveness-check)',
    `${RANK}    case 'open':\n      return 1;\n  }\n  return 0;\n}\n`,
  ],
  'src/default.ts': [
    'typescript(switch-exhaustiveness-check)',
    `${RANK}    case 'open':\n      return 1;\n    default:\n      return 0;\n  }\n}\n`,
  ],
  'src/cycle-a.ts': [
    'import(no-cycle)',
    lines("import { b } from './cycle-b.ts';", 'export const a = (): number => b();'),
  ],
  'src/cycle-b.ts': [
    'import(no-cycle)',
    lines("import { c } from './cycle-c.ts';", 'export const b = (): number => c();'),
  ],
  'src/cycle-c.ts': [
    'import(no-cycle)',
    lines("import { a } from './cycle-a.ts';", 'export const c = (): number => a();'),
  ],
  'src/type-import.ts': [
    'typescript(consistent-type-imports)',
    lines("import { Thing } from './good.ts';", 'export type Other = Thing;'),
  ],
  'src/any.ts': ['typescript(no-explicit-any)', lines('export type Bag = Record<string, any>;')],
  'src/unsafe.ts': [
    'typescript(no-unsafe-return)',
    lines('export const parse = (text: string): string => JSON.parse(text);'),
  ],
  'src/default-export.ts': ['import(no-default-export)', lines('const one = 1;', 'export default one;')],
  'src/later.ts': ['eslint(no-warning-comments)', lines('// TODO: later', 'export const one = 1;')],
  'src/long.ts': [
    'eslint(max-lines-per-function)',
    lines('export function long(): void {', ...Array<string>(60).fill('  String(1);'), '}'),
  ],
  'src/machines/log.ts': ['eslint(no-console)', lines('export const log = (): void => console.log(1);')],
  'test/only.test.ts': [
    'vitest(no-focused-tests)',
    lines("import { expect, it } from 'vitest';", "it.only('x', () => expect(1).toBe(1));"),
  ],
  'test/empty.test.ts': ['vitest(expect-expect)', lines("import { it } from 'vitest';", "it('x', () => {});")],
};

const GOOD = `import { type } from 'node:os';
export interface Thing {
  readonly status: Status;
}
${STATUS}

function assertNever(value: never): never {
  throw new Error(String(value));
}
export async function rank(thing: Thing): Promise<number> {
  await Promise.resolve(type());
  switch (thing.status) {
    case 'open':
      return 1;
    case 'closed':
    case 'gone':
      return 2;
    default:
      return assertNever(thing.status);
  }
}
`;

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly severity: string; readonly filename: string }[];
}

describe('the linter, with the configuration of this project,', () => {
  let root = '';
  let exitCode: number | null = null;
  let report: Report = { diagnostics: [] };

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'lint-'));
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    for (const file of ['.oxlintrc.json', 'tsconfig.base.json']) copyFileSync(join(checkout, file), join(root, file));
    writeFileSync(
      join(root, 'tsconfig.json'),
      JSON.stringify({ extends: './tsconfig.base.json', include: ['src', 'test'] }),
    );
    for (const [path, [, code]] of [...Object.entries(OFFENSES), ['src/good.ts', ['', GOOD]] as const]) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), code);
    }
    const run = spawnSync(process.execPath, [oxlint, '-f', 'json'], { cwd: root, encoding: 'utf8' });
    exitCode = run.status;
    report = JSON.parse(run.stdout) as Report;
  });

  afterAll(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const rulesBrokenBy = (path: string): string[] => [
    ...new Set(
      report.diagnostics.filter(({ filename }) => filename === path).map(({ code, severity }) => `${severity} ${code}`),
    ),
  ];

  it.each(Object.entries(OFFENSES))('refuses %s', (path, [rule]) => {
    expect(rulesBrokenBy(path)).toEqual([`error ${rule}`]);
  });

  it('has nothing to say about sound code', () => {
    expect(rulesBrokenBy('src/good.ts')).toEqual([]);
  });

  it('fails the run', () => {
    expect(exitCode).toBe(1);
  });
});
