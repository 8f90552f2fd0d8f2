import { describe, expect, it } from 'vitest';
import { formatRule } from '../../../src/machines/permission/permission-rule.ts';
import { corpus } from './corpus.ts';
import { decideLine } from './shell-questions.ts';

describe.each(corpus)('$name', ({ rules, mode = 'ask', lines }) => {
  it.each(
    lines.map(
      ([line, expected, situation]) =>
        [expected, line.length > 80 ? `${line.slice(0, 60)}…` : line, situation, line] as const,
    ),
  )('"%s" for %j (%s)', (expected, _shown, _situation, line) => {
    const decision = decideLine(line, { policy: rules, mode });
    expect(decision).toMatchObject({ decision: expected });
    // A rule of the session allows what a rule of the policy allows, and can do no more against what denies or asks.
    const restricting = rules.filter((rule) => !rule.startsWith('allow'));
    expect(
      decideLine(line, { policy: restricting, session: rules.filter((rule) => rule.startsWith('allow')), mode })
        .decision,
    ).toBe(expected);
    expect(decideLine(line, { policy: rules, mode, humans: 'none' }).decision).toBe(
      expected === 'ask' ? 'deny' : expected,
    );
    expect(decideLine(line, { policy: rules, mode: 'deny' })).toMatchObject({ decision: 'deny', by: 'mode' });
    if (
      expected === 'ask' &&
      mode === 'ask' &&
      restricting.length === 0 &&
      decision.decision === 'ask' &&
      decision.suggestions.length > 0
    ) {
      expect(
        decideLine(line, { policy: rules, session: decision.suggestions.map((rule) => formatRule(rule)) }),
      ).toMatchObject({ decision: 'allow' });
    }
  });
});

describe('the corpus', () => {
  it('is as large as it was promised to be, and says nothing twice', () => {
    for (const { lines } of corpus) expect(new Set(lines.map(([line]) => line)).size).toBe(lines.length);
    expect(corpus.flatMap(({ lines }) => lines).length).toBeGreaterThan(260);
  });
});
