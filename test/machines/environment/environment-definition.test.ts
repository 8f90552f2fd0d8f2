import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  HOST_ENVIRONMENT,
  SANDBOXED_ENVIRONMENT,
  environmentFile,
  fingerprintText,
  rememberedEnvironment,
} from '../../../src/machines/environment/environment-definition.ts';
import { sha256Hex } from '../../../src/actors/sha256.ts';
import { canonicalJson } from '../../../src/machines/canonical-json.ts';
import { mountAt, mountTable, shownPath } from '../../../src/machines/environment/mount-table.ts';
import { strictestEnvironment } from '../../../src/machines/environment/strictest-environment.ts';
import { anyEnvironment } from './definitions.ts';

const problems = (file: object): string => {
  const parsed = environmentFile.safeParse(file);
  return parsed.success
    ? ''
    : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
};

describe('an environment file', () => {
  it('says whether there is a sandbox, and everything else has a default', () => {
    expect(environmentFile.parse({ sandbox: 'required' })).toMatchObject({
      network: 'disabled',
      mounts: [],
      vaults: [],
      permission: { mode: 'preapproved' },
      budget: {},
      quota: {},
      evaluation: {},
    });
    expect(environmentFile.parse({ sandbox: 'off' }).network).toBe('open');
    expect(problems({})).toContain('sandbox');
  });

  it.each<[object, string]>([
    [{ sandbox: 'off', network: 'disabled' }, 'network: expected "open"'],
    [{ sandbox: 'on' }, 'sandbox'],
    [{ sandbox: 'off', mount: [] }, 'mount'],
    [{ sandbox: 'off', mounts: [{ path: '/workspace/x', source: '/a' }] }, '/workspace is the runtime'],
    [{ sandbox: 'off', mounts: [{ path: '/agent-skills', source: '/a' }] }, '/agent-skills is the runtime'],
    [
      {
        sandbox: 'off',
        mounts: [
          { path: '/a', source: '/a' },
          { path: '/a/b', source: '/b' },
        ],
      },
      'apart from each other',
    ],
    [{ sandbox: 'off', mounts: [{ path: '/a/../b', source: '/a' }] }, 'absolute path of plain names'],
    [{ sandbox: 'off', mounts: [{ path: '/a', source: '/a\0b' }] }, 'NUL'],
    [
      { sandbox: 'off', mounts: Array.from({ length: 51 }, (_, index) => ({ path: `/m${index}`, source: '/a' })) },
      'mounts',
    ],
    [{ sandbox: 'off', variables: { pass: ['A*'] } }, 'the name of one variable'],
    [{ sandbox: 'off', variables: { set: { A: 'x\0' } } }, 'NUL'],
    [
      {
        sandbox: 'off',
        variables: { set: Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`V${index}`, ''])) },
      },
      'at most 200',
    ],
    [{ sandbox: 'off', permission: { deny: ['what is this?'] } }, 'permission.deny.0'],
    [{ sandbox: 'off', permission: { allow: ['read'] } }, 'allow'],
    [{ sandbox: 'off', vaults: ['../x'] }, 'vaults.0'],
    [{ sandbox: 'off', quota: { maxBytes: 0 } }, 'quota.maxBytes'],
    [{ sandbox: 'off', evaluation: { check: { command: 'x', timeoutSeconds: 3_601 } } }, 'timeoutSeconds'],
  ])('%j is refused: %s', (file, message) => {
    expect(problems(file)).toContain(message);
  });

  it('has one text for what it says, and another one for whatever else it would say', () => {
    fc.assert(
      fc.property(anyEnvironment, anyEnvironment, (one, other) => {
        expect(fingerprintText(one) === fingerprintText(other)).toBe(canonicalJson(one) === canonicalJson(other));
      }),
    );
  });

  // Of 0.1.0. Other words of a description, or one more key with a default, would have people asked again.
  it.each([
    [HOST_ENVIRONMENT, '4f3cb0a89222aa2462016edc683f273bdb955595cd63dfbff949d32f93d2d1e7'],
    [SANDBOXED_ENVIRONMENT, 'f2e390a5c2d049b82c5a3209fde43a40639f62d56a965bed20ece633785789f7'],
  ])('that is built in keeps its text over versions: $0.environmentId', async (environment, digest) => {
    expect(await sha256Hex(fingerprintText(environment))).toBe(digest);
  });

  it('can be remembered, also when it was merged of several', () => {
    fc.assert(
      fc.property(anyEnvironment, fc.array(anyEnvironment, { maxLength: 3 }), (own, others) => {
        const merged = strictestEnvironment(own, others);
        expect(rememberedEnvironment.parse(JSON.parse(JSON.stringify(merged)))).toEqual(
          JSON.parse(JSON.stringify(merged)),
        );
      }),
    );
  });

  it('is there without a file twice: one that shuts nothing in, and one that does', () => {
    expect(HOST_ENVIRONMENT).toMatchObject({ environmentId: 'host', sandbox: 'off', network: 'open' });
    expect(SANDBOXED_ENVIRONMENT).toMatchObject({
      environmentId: 'sandboxed',
      sandbox: 'required',
      network: 'disabled',
    });
  });
});

describe('the mounts of a session', () => {
  const folders = {
    workspace: '/h/ws',
    agent: '/h/sub',
    runtime: '/h/rt',
    learnings: '/h/learn',
    skills: '/h/skills',
    agentSkills: '/h/own',
  };
  const mounts = mountTable({
    folders,
    declared: [{ path: '/data', source: '/srv/d', access: 'rw' }],
    vaults: ['github'],
  });

  it.each<[string, string | undefined, string | undefined, string | undefined]>([
    ['/workspace/a/b', 'workspace', 'a/b', 'rw'],
    ['/workspace/agent/MEMORY.md', 'agent', 'MEMORY.md', 'ro'],
    ['/workspace/agents', 'workspace', 'agents', 'rw'],
    ['/runtime', 'runtime', '', 'rw'],
    ['/memory/learnings/learnings.md', 'learnings', 'learnings.md', 'ro'],
    ['/skills/x', 'skills', 'x', 'ro'],
    ['/agent-skills/x', 'skills', 'x', 'ro'],
    ['/data/x', 'declared', 'x', 'rw'],
    ['/vaults/github/token', 'vault', 'token', 'none'],
    ['/vaults/other', undefined, undefined, undefined],
    ['/etc/passwd', undefined, undefined, undefined],
  ])('%s is %s', (path, kind, rest, access) => {
    const found = mountAt(mounts, path);
    expect([found?.mount.kind, found?.rest, found?.mount.access]).toEqual([kind, rest, access]);
  });

  it('name a path of the host by the mount that it lies in', () => {
    expect(shownPath(mounts, '/srv/d/x')).toBe('/data/x');
    expect(shownPath(mounts, '/srv/data')).toBeUndefined();
  });

  it('have no skills of the agent where it has none', () => {
    expect(
      mountTable({ folders: { ...folders, agentSkills: undefined }, declared: [], vaults: [] }).map(({ path }) => path),
    ).toEqual(['/workspace', '/workspace/agent', '/runtime', '/memory/learnings', '/skills']);
  });
});
