/** The header of a machine's file says of each state what its chart says, in the same words. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chartFiles, withStates } from '../../scripts/chart-headers.mjs';

const CHART = `/**
 * A lamp.
 *
 *   off ──▶ on
 *
 * off:  It is dark.
 * on:   It is bright.
 *
 * Nothing more.
 */
export const lamp = { states: { off: { description: 'It is dark.' }, on: { description: 'It is bright.' } } };
`;

describe('the header of a chart', () => {
  it.each(chartFiles().map((path) => [relative(process.cwd(), path), readFileSync(path, 'utf8')]))(
    'of %s has the states of the chart (`npm run format` writes them)',
    (_, text) => {
      expect(withStates(text)).toBe(text);
      expect(text).toMatch(/^ \* [a-z_]+: {2,}\S/m);
    },
  );

  it('is left alone where it says what the chart says', () => {
    expect(withStates(CHART)).toBe(CHART);
  });

  it.each([
    ['says something else', CHART.replace(' * on:   It is bright.', ' * on:   It is warm.')],
    ['lacks a state', CHART.replace(' * on:   It is bright.\n', '')],
    ['has one that is gone', CHART.replace(' * off:  ', ' * dim:  It was replaced.\n * off:  ')],
  ])('is written anew where it %s', (_, text) => {
    expect(withStates(text)).toBe(CHART);
  });

  it('wraps what is long, and keeps the picture and the words behind', () => {
    const long = `It is bright ${'and bright '.repeat(12)}still.`;
    const text = withStates(CHART.replace("'It is bright.'", `'${long}'`));
    expect(
      Math.max(
        ...text
          .split('\n')
          .slice(0, 9)
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(120);
    expect(text).toMatch(
      /off ──▶ on[^]* \* on: {3}It is bright and[^]* \* {7}and [^]*still\.\n \*\n \* Nothing more\./,
    );
  });
});
