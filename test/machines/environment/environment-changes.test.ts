import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareEnvironments } from '../../../src/machines/environment/environment-changes.ts';
import { canonicalJson } from '../../../src/machines/canonical-json.ts';
import type { EnvironmentFile } from '../../../src/machines/environment/environment-definition.ts';
import { strictestEnvironment } from '../../../src/machines/environment/strictest-environment.ts';
import { anyEnvironment, environment } from './definitions.ts';

const texts = (before: Partial<EnvironmentFile>, after: Partial<EnvironmentFile>): readonly string[] =>
  compareEnvironments(environment('e', before), environment('e', after)).changes.map(({ text }) => text);

describe('the comparison of two environments', () => {
  it.each<[Partial<EnvironmentFile>, Partial<EnvironmentFile>, string, string]>([
    [{ sandbox: 'off' }, { network: 'open' }, 'sandbox was off and is required', 'stricter'],
    [{}, { network: 'open' }, 'network was disabled and is open', 'looser'],
    [{}, { mounts: [{ path: '/data', source: '/srv/d' }] }, '/data is mounted: /srv/d, to read', 'looser'],
    [
      { mounts: [{ path: '/data', source: '/srv/d' }] },
      {},
      '/data is not mounted any more: it was /srv/d, to read',
      'stricter',
    ],
    [
      { mounts: [{ path: '/data', source: '/srv/d' }] },
      { mounts: [{ path: '/data', source: '/srv/d', access: 'rw' }] },
      '/data was /srv/d, to read and is /srv/d, to read and write',
      'looser',
    ],
    [{ vaults: ['github'] }, {}, 'the vault github cannot be used any more', 'stricter'],
    [{}, { permission: { mode: 'ask' } }, 'permission.mode was preapproved and is ask', 'stricter'],
    [{ permission: { deny: ['write'] } }, {}, 'no longer denied: write', 'looser'],
    [{}, { budget: { maxTokensPerWake: 5 } }, 'budget.maxTokensPerWake is 5, and was not bounded', 'stricter'],
    [{ quota: { maxBytes: 5 } }, { quota: { maxBytes: 9 } }, 'quota.maxBytes was 5 and is 9', 'looser'],
    [{}, { variables: { pass: ['CI'] } }, 'the variable CI of the host can be used', 'looser'],
    [
      { variables: { set: { A: 'secret-1' } } },
      { variables: { set: { A: 'secret-2' } } },
      'commands get another A',
      'neither',
    ],
    [
      {},
      { evaluation: { check: { command: 'npm test' } } },
      'the check is "npm test (within 600 seconds)"',
      'stricter',
    ],
    [{ description: 'a' }, { description: 'b' }, 'its description was "a" and is "b"', 'neither'],
  ])('of %j with %j says: %s (%s)', (before, after, text, isolation) => {
    const comparison = compareEnvironments(environment('e', before), environment('e', after));
    expect(comparison.changes.map((change) => change.text)).toEqual([text]);
    expect(comparison.isolation).toBe(isolation);
  });

  it('says so when some more is shut in and some less', () => {
    expect(
      compareEnvironments(environment('e', { vaults: ['a'] }), environment('e', { vaults: ['b'] })).isolation,
    ).toBe('mixed');
  });

  it('never shows the value of a variable', () => {
    expect(texts({}, { variables: { set: { TOKEN: 'hunter22222' } } }).join()).not.toContain('hunter');
  });

  it('finds nothing between environments that say the same, and something between any others', () => {
    fc.assert(
      fc.property(anyEnvironment, anyEnvironment, (one, other) => {
        expect(compareEnvironments(one, other).changes.length === 0).toBe(sameText(one) === sameText(other));
      }),
    );
  });

  it('never finds an environment looser than itself for being bound by others', () => {
    fc.assert(
      fc.property(anyEnvironment, fc.array(anyEnvironment, { maxLength: 3 }), (own, others) => {
        const loosened = compareEnvironments(own, strictestEnvironment(own, others)).changes.filter(
          ({ isolation }) => isolation === 'looser',
        );
        expect(loosened).toEqual([]);
      }),
    );
  });
});

/** In whichever order things are listed. */
function sameText({ mounts, vaults, permission, variables, ...rest }: ReturnType<typeof environment>): string {
  const sorted = (given: readonly string[]): readonly string[] => given.toSorted();
  return canonicalJson({
    ...rest,
    mounts: sorted(mounts.map((mount) => canonicalJson(mount))),
    vaults: sorted(vaults),
    permission: { ...permission, ask: sorted(permission.ask), deny: sorted(permission.deny) },
    variables: { ...variables, pass: sorted(variables.pass) },
  });
}
