import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lackedForPublishing } from '../../scripts/publishable.mjs';

const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');

const whole = { version: '1.2.3', repository: { type: 'git' }, homepage: 'x', bugs: 'x' };
const dated = '# Changelog\n\n## [1.2.3] - 2027-01-31\n';

describe('what the package lacks before it is published', () => {
  it('is nothing with a repository and a dated entry of the changelog', () => {
    expect(lackedForPublishing(whole, dated)).toEqual([]);
  });

  it.each([
    ['the repository', { ...whole, repository: undefined }, dated, /^"repository" in package\.json, such as/],
    ['the page', { ...whole, homepage: undefined }, dated, /^"homepage"/],
    ['where faults are reported', { ...whole, bugs: undefined }, dated, /^"bugs"/],
    ['the day', whole, '## [1.2.3] (unreleased)\n', /^the day in CHANGELOG\.md/],
    ['the entry', whole, '## [1.2.2] - 2027-01-30\n', /^the day in CHANGELOG\.md/],
  ])('is told: %s', (_what, manifest, changelog, told) => {
    expect(lackedForPublishing(manifest, changelog)).toEqual([expect.stringMatching(told)]);
  });

  it('is asked of every publication', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    expect(scripts['prepublishOnly']).toBe('node scripts/publishable.mjs');
  });
});
