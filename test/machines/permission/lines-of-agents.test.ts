import { describe, expect, it } from 'vitest';
import { formatRule } from '../../../src/machines/permission/permission-rule.ts';
import { dangerousLines } from './dangerous-lines.ts';
import type { DangerousFamily } from './dangerous-lines.ts';
import { harmlessLines } from './harmless-lines.ts';
import type { HarmlessLine } from './harmless-lines.ts';
import { decideLine } from './shell-questions.ts';

/** What a person would allow for the line, and what was said when it was asked. */
function grantFor(each: HarmlessLine): {
  readonly line: string;
  readonly rules: readonly string[];
  readonly because: string;
} {
  const [line, ...written] = typeof each === 'string' ? [each] : each;
  const decision = decideLine(line);
  const suggested = decision.decision === 'ask' ? decision.suggestions.map((rule) => formatRule(rule)) : [];
  return {
    line,
    rules: written.length > 0 ? written.map((rule) => `allow shell_run(${rule})`) : suggested,
    because: decision.decision === 'ask' ? decision.because : '',
  };
}

/** Of rules that could be written: one that is refused allows nothing. */
function allowed(line: string, rules: readonly string[]): boolean {
  try {
    return decideLine(line, { session: rules }).decision === 'allow';
  } catch {
    return false;
  }
}

/**
 * Asked about each time, with the reason: they write, leave the machine or the workspace, or a rule for them begins
 * with what runs anything.
 */
const STILL_ASKED = [
  ...[
    'docker compose up -d',
    'diff src/{a,b}.ts',
    'time -p make',
    'npm test 2>&1 | tee /dev/null',
    'grep -rl --include=*.ts foo src',
    'sleep 1 && curl -s http://localhost:3000/health',
    'ls -la ~/.cache',
  ],
];

describe('a harmless line as agents write it', () => {
  const grants = Object.values(harmlessLines).flat().map(grantFor);

  it('runs once its rule was granted, but for a few', () => {
    expect(grants.length).toBeGreaterThanOrEqual(224);
    expect(grants.filter(({ line, rules }) => !allowed(line, rules)).map(({ line }) => line)).toEqual(STILL_ASKED);
  });

  it('that no rule would cover says why', () => {
    for (const { line, because } of grants.filter(
      (grant) => !allowed(grant.line, grant.rules) && grant.rules.length === 0,
    )) {
      expect([line, /is not understood|is asked about each time, since/.test(because)]).toEqual([line, true]);
    }
  });

  it('allows by its rule no line with one thing more that writes, runs or goes elsewhere', () => {
    const more = [
      ' > out',
      ' && rm x',
      '; rm x',
      ' | sh',
      ' $(rm x)',
      ' "$x"',
      ' ../x',
      ' /etc/x',
      ' & rm x',
      '\nrm x',
      ' <<E\nx\nE',
      ' # c\nrm x',
    ];
    for (const { line, rules } of grants) {
      if (!allowed(line, rules) || decideLine(line).decision === 'allow' || line.includes('#') || line.includes('echo'))
        continue;
      for (const each of more)
        expect([`${line}${each}`, allowed(`${line}${each}`, rules)]).toEqual([`${line}${each}`, false]);
      expect([`cd other && ${line}`, allowed(`cd other && ${line}`, rules)]).toEqual([`cd other && ${line}`, false]);
      expect(decideLine(line, { session: rules, cwd: '/ws/other' }).decision).toBe('ask');
    }
  });
});

describe('a dangerous line', () => {
  const weak = ({ rules, boundTo = [], folder = '', lines }: DangerousFamily): readonly string[] => {
    const policy = rules.map(
      (rule, index) => `allow shell_run(${rule})${boundTo[index] === undefined ? '' : ` in ${boundTo[index]}`}`,
    );
    return lines.filter((line) => decideLine(line, { policy, cwd: `/ws/${folder}` }).decision !== 'ask');
  };

  it.each(Object.entries(dangerousLines))('asks whatever was allowed that looks like it: %s', (_family, family) => {
    expect(weak(family)).toEqual([]);
  });

  it('is one of more than six hundred', () => {
    const all = Object.values(dangerousLines).flatMap(({ lines }) => lines);
    expect(all.length).toBeGreaterThan(1_200);
    expect(new Set(all).size).toBeGreaterThan(1_100);
  });
});
