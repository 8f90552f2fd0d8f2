import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { projectRules } from './project-rules.ts';
import { violationsWith } from './planted-tree.ts';
import { checkTree, describeViolation } from './rules.ts';
import { readSourceTree } from './source-tree.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

describe('this checkout', () => {
  const tree = readSourceTree(checkout);

  it.each(projectRules)('keeps the rule $name', (rule) => {
    expect(checkTree(tree, [rule]).map(describeViolation)).toEqual([]);
  });

  it('names no test file that is not there', () => {
    const named = tree
      .under('src')
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\btest\/[\w/-]+\.test\.ts\b/g)].map(([test]) => `${path}: ${test}`),
      );
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((line) => !existsSync(`${checkout}${line.split(': ')[1]}`))).toEqual([]);
  });

  it('has code for the rules to check', () => {
    expect(tree.under('src').length).toBeGreaterThan(10);
    expect(tree.under('test').length).toBeGreaterThan(5);
  });
});

describe('the rules', () => {
  it('have nothing to say about a healthy tree', () => {
    expect(violationsWith({}, projectRules)).toEqual([]);
  });

  it('each have a name of their own', () => {
    const names = projectRules.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['ports.store.create(identity, events)', 'sessions-are-made-in-one-place'],
    ['handDown(binding)', 'bounds-are-handed-down-in-one-place'],
    ['restriction as HandedDown', 'bounds-are-handed-down-in-one-place'],
  ])('see another door for children: %s', (code, rule) => {
    expect(violationsWith({ 'src/actors/bad.ts': `/** Bad. */\nexport const bad = ${code};\n` }, projectRules)).toEqual(
      [expect.stringContaining(rule)],
    );
  });

  it.each([
    'async function syncFolder(path) {}',
    "const boot = '/proc/sys/kernel/random/boot_id';",
    '(error as NodeJS.ErrnoException).code;',
    'process.kill(pid, 0);',
    'open(path, constants.O_DIRECTORY);',
    'const entry = `/proc/self/fd/${handle.fd}/name`;',
    "existsSync('/proc/self/fd');",
  ])('see what the floor of the adapters has already: %s', (code) => {
    expect(violationsWith({ 'src/adapters/files/bad.ts': `/** Bad. */\n${code}\n` }, projectRules)).toContainEqual(
      expect.stringContaining('the-floor-is-laid-once'),
    );
  });

  it('see a text that is cut within a character', () => {
    expect(
      violationsWith({ 'src/actors/bad.ts': '/** Bad. */\ntext.slice(0, MAX_TITLE_CHARACTERS);\n' }, projectRules),
    ).toContainEqual(expect.stringContaining('texts-are-cut-between-characters'));
  });
});
