import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isForeign } from './foreign-variables.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

describe('the tests', () => {
  it('begin without the variables of a user, with those of the tests', () => {
    const set = Object.entries(process.env).filter(([name]) => isForeign(name));
    expect(Object.fromEntries(set)).toEqual({ GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' });
  });

  it('run in CI with every variable that our code reads set to nonsense', () => {
    const named = execFileSync('git', ['grep', '-hoE', 'WAKECHART_[A-Z_]+[A-Z]', '--', 'src'], {
      cwd: checkout,
      encoding: 'utf8',
    });
    const ours = [...new Set(named.trim().split('\n'))].toSorted();
    expect(ours).toContain('WAKECHART_HOME');
    const ci = readFileSync(`${checkout}/.ci/run`, 'utf8');
    expect(ours.filter((name) => !ci.includes(` ${name}=`))).toEqual([]);
  });
});
