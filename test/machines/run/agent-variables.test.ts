import { describe, expect, it } from 'vitest';
import { pathOutside, secretsAmong, withoutOurVariables } from '../../../src/machines/run/agent-variables.ts';

const LINKS: Readonly<Record<string, string>> = { '/link': '/space/bin', '/space-link': '/space' };
const search = (path: string, workspaceDir = '/space'): string =>
  pathOutside({ path, workspaceDir, realPathOf: (each) => LINKS[each] ?? each });

describe('where the program of an agent is searched for', () => {
  it.each([
    ['/usr/bin:/space/bin:/bin', '/usr/bin:/bin'],
    ['/space:/bin', '/bin'],
    ['/link:/bin', '/bin'],
    ['/spacious:/bin', '/spacious:/bin'],
    ['bin:./bin::/bin', '/bin'],
  ])('is not its workspace: %s', (path, expected) => {
    expect(search(path)).toBe(expected);
    expect(search(path, '/space-link')).toBe(expected);
  });

  it.each(['', ':', '/space/bin', 'bin'])('is never nowhere, which would mean the workspace: "%s"', (path) => {
    expect(search(path)).toBe('/usr/local/bin:/usr/bin:/bin');
  });
});

describe('the variables of an agent', () => {
  it('hold none of this runtime', () => {
    expect(withoutOurVariables({ WAKECHART_HOME: '/w', MY_WAKECHART_HOME: '/m', A: 'b' })).toEqual({
      MY_WAKECHART_HOME: '/m',
      A: 'b',
    });
  });

  it('are secret where they were passed on by a name that says so, and are there', () => {
    expect(
      secretsAmong(['MY_KEY', 'github_token', 'LANG', 'GONE_SECRET'], {
        MY_KEY: 'k',
        github_token: 't',
        LANG: 'C',
        OTHER_KEY: 'o',
      }),
    ).toEqual([
      ['MY_KEY', 'k'],
      ['github_token', 't'],
    ]);
  });
});
