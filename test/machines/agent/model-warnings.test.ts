import { describe, expect, it } from 'vitest';
import { checkedFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { modelWarnings } from '../../../src/machines/agent/model-warnings.ts';
import { pathOf } from '../../../src/machines/validate.ts';

const HOME = {
  providers: ['anthropic', 'openai', 'script'],
  profiles: [
    { id: 'work', provider: 'anthropic' },
    { id: 'home', provider: 'openai' },
  ],
} as const;
const warned = (more: object): string[] =>
  modelWarnings(checkedFrontmatter.parse({ name: 'x', provider: 'anthropic', model: 'big', ...more }), HOME).map(
    ({ path, message }) => `${pathOf(path)}: ${message}`,
  );

describe('what an agent says about its models', () => {
  it.each<[string, object]>([
    ['a provider that is known', {}],
    ['an account that is there', { profile: 'work' }],
    ['another model of the same provider', { fallbacks: ['anthropic/small', 'openai/big'] }],
    ['the same model with all accounts after one of them', { profile: 'work', fallbacks: ['anthropic/big'] }],
  ])('is fine with %s', (_, more) => {
    expect(warned(more)).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    [
      'a provider that nobody serves, with the one that was meant',
      { provider: 'antropic' },
      /^provider: no backend serves a provider "antropic" here; did you mean "anthropic"\?/,
    ],
    [
      'one that is like no other',
      { provider: 'zzz' },
      /^provider: no backend serves a provider "zzz" here; say in providers\.yaml/,
    ],
    [
      'the provider of a fallback',
      { fallbacks: ['openai/x', 'opnai/x'] },
      /^fallbacks\[?\.?1\]?: no backend serves a provider "opnai" here; did you mean "openai"\?/,
    ],
    [
      'an account that is not there',
      { profile: 'wrok' },
      /^profile: there is no account "wrok" in this home; did you mean "work"\?; add it with: wakechart auth add wrok --provider anthropic/,
    ],
    [
      'an account of another provider',
      { profiles: ['work', 'home'] },
      /^profiles.*1.*: the account "home" is one with "openai", not with "anthropic"/,
    ],
    [
      'an account of a fallback',
      { fallbacks: [{ provider: 'openai', model: 'x', profile: 'gone' }] },
      /^fallbacks.*0.*profile: there is no account "gone"/,
    ],
    [
      'a fallback that is the first choice',
      { fallbacks: ['anthropic/big'] },
      /^fallbacks.*0.*: anthropic\/big is the first choice already/,
    ],
    [
      'a fallback that is the first choice with one of its accounts',
      { fallbacks: [{ provider: 'anthropic', model: 'big', profile: 'work' }] },
      /: anthropic\/big \(work\) is the first choice already/,
    ],
    [
      'a fallback that is named twice',
      { fallbacks: ['openai/x', 'openai/x'] },
      /^fallbacks.*1.*: openai\/x is fallback 1 already/,
    ],
  ])('is warned about with %s', (_, more, text) => {
    const [only, ...rest] = warned(more);
    expect(only).toMatch(text);
    expect(rest).toEqual([]);
  });
});
