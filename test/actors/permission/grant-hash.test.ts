import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  environmentHash,
  fromFolder,
  grantHash,
  movingEnvironmentHash,
  placeInWorkspace,
} from '../../../src/actors/permission/grant-hash.ts';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import type { SessionEnvironment } from '../../../src/actors/environment/session-environment.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import { mountTable } from '../../../src/machines/environment/mount-table.ts';

const call = { tool: 'shell_run', input: { command: 'npm test', timeoutMs: 5 }, cwd: '/ws' };

describe('what a permission is bound to', () => {
  it('is a SHA-256 that anybody can compute again', async () => {
    const text = '["shell_run",{"command":"npm test","timeoutMs":5},"/ws"]';
    expect(await grantHash(call)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('does not depend on the order of keys', async () => {
    expect(await grantHash({ cwd: '/ws', input: { timeoutMs: 5, command: 'npm test' }, tool: 'shell_run' })).toBe(
      await grantHash(call),
    );
  });

  it.each([
    { ...call, tool: 'shell_exec' },
    { ...call, cwd: '/ws/' },
    { ...call, input: { command: 'npm test ', timeoutMs: 5 } },
    { ...call, input: { command: 'npm test', timeoutMs: 6 } },
    { ...call, input: { command: 'npm test' } },
    { ...call, input: { command: 'npm test', timeoutMs: '5' } },
    { ...call, input: ['npm test', 5] },
    { ...call, input: null },
  ])('is another for %j', async (other) => {
    expect(await grantHash(other)).not.toBe(await grantHash(call));
  });

  it('takes a call without input, and none that could not be stored', async () => {
    expect(await grantHash({ ...call, input: undefined })).toBe(await grantHash({ ...call, input: null }));
    await expect(grantHash({ ...call, input: { a: Number.NaN } })).rejects.toMatchObject({ code: 'NOT_JSON' });
  });
});

describe('a place in a workspace that goes from machine to machine', () => {
  const roots = ['/one/ws', '/real/ws'];

  it.each([
    ['/one/ws', { inWorkspace: '' }],
    ['/real/ws', { inWorkspace: '' }],
    ['/one/ws/src/a b', { inWorkspace: 'src/a b' }],
    ['/one/ws/..hidden', { inWorkspace: '..hidden' }],
    ['/one/wsx', '/one/wsx'],
    ['/one', '/one'],
    ['/one/ws/../secret', '/one/ws/../secret'],
    ['/one/ws/a/./b', '/one/ws/a/./b'],
    ['/one/ws/', '/one/ws/'],
    ['src', 'src'],
  ])('%s is %j', (path, place) => {
    expect(placeInWorkspace(path, roots)).toEqual(place);
  });

  it('is never taken for a folder of one machine', async () => {
    const names = ['', 'src', '/ws', '{"inWorkspace":""}'];
    const hashes = await Promise.all(
      names.flatMap((cwd) => [grantHash({ ...call, cwd }), grantHash({ ...call, cwd: { inWorkspace: cwd } })]),
    );
    expect(new Set(hashes).size).toBe(names.length * 2);
  });

  it.each([
    ['/h/s/ws', '/h/s/ws', ''],
    ['/h/s/ws', '/h/s/runtime/agent', '../runtime/agent'],
    ['/h/s/ws', '/h/s/ws/agent', 'agent'],
    ['/h/s/ws', '/', '../../../'],
    ['/h/s/ws', '/h/s', '..'],
  ])('from %s to %s it is %j', (from, to, way) => {
    expect(fromFolder(from, to)).toBe(way);
  });
});

describe('what shuts a call in', () => {
  const on = (home: string, { skills = `${home}/skills`, data = '/srv/data' } = {}): SessionEnvironment => ({
    definition: HOST_ENVIRONMENT,
    fingerprint: 'one',
    within: [],
    mounts: mountTable({
      folders: {
        workspace: `${home}/s/ws`,
        agent: `${home}/agent`,
        runtime: `${home}/s/runtime`,
        learnings: `${home}/learnings`,
        skills,
      },
      declared: [{ path: '/data', source: data, access: 'ro' }],
      vaults: [],
    }),
    secrets: NO_SECRETS,
  });

  it('is the same on machines whose homes lie elsewhere, and was not before', async () => {
    expect(await movingEnvironmentHash(on('/one'))).toBe(await movingEnvironmentHash(on('/srv/two/home')));
    expect(await environmentHash(on('/one'))).not.toBe(await environmentHash(on('/srv/two/home')));
  });

  it.each([
    ['a folder of the home leads elsewhere', on('/two', { skills: '/etc/skills' })],
    ['a mount is another folder', on('/two', { data: '/two/data' })],
    [
      'a sandbox is gone or there',
      {
        ...on('/two'),
        sandbox: {
          kind: 'bubblewrap',
          wrapCommand: (command: string) => command,
          wrapProgram: <Program>(program: Program) => program,
        },
      } as const,
    ],
    ['an environment says something else', { ...on('/two'), fingerprint: 'two' }],
  ])('is another where %s', async (_what, other) => {
    expect(await movingEnvironmentHash(other)).not.toBe(await movingEnvironmentHash(on('/one')));
  });
});
