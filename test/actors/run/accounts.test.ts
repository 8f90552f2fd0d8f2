/** The accounts of a run: whose they are, what goes wrong before anybody is asked, and what is read anew. */
import { describe, expect, it } from 'vitest';
import type { AuthProfiles } from '../../../src/actors/run/auth-profiles.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { AuthProfile } from '../../../src/machines/run/auth-profile.ts';
import { fails, says } from '../../support/told-runtime.ts';
import { runStage } from './run-stage.ts';

const A = { provider: 'a', model: 'm' };
const B = { provider: 'b', model: 'm' };
const ONE: AuthProfile = { id: 'one', provider: 'a' };
const NO_WAITS = { limits: { maxBackOffs: 0 } };

const accounts = (credential: AuthProfiles['credential'], more: Partial<AuthProfiles> = {}): AuthProfiles => ({
  list: async () => [ONE],
  credential,
  add: async () => undefined,
  remove: async () => false,
  ...more,
});
const missing = new RuntimeError('AUTH_VALUE_MISSING', 'auth profile "one" has no value: the variable KEY is not set', {
  category: 'not_found',
  hint: 'Set KEY.',
});

describe('an account of one provider', () => {
  it.each([
    { ...B, profile: 'one' },
    { ...B, profiles: ['one'] },
  ])('is not given to another: %o', async (model) => {
    const read: string[] = [];
    const { run, runtimes, candidateHealth } = runStage({ acts: { b: [says('hi')] } });
    const credential: AuthProfiles['credential'] = async (profileId) => {
      read.push(profileId);
      return { profileId, secret: 'sk-of-a' };
    };
    const { meta } = await run([model], { profiles: accounts(credential) });
    expect(meta?.error).toMatchObject({
      kind: 'format',
      isLocal: true,
      message: expect.stringMatching(/"one" is one with "a".*not given to "b"/) as string,
    });
    expect([read, runtimes['b']?.asked, await candidateHealth.list()]).toEqual([[], [], []]);
  });

  it('that is not there is a mistake in the agent, and held against nobody', async () => {
    const { run, candidateHealth } = runStage({ acts: { a: [says('hi')] }, profiles: [ONE] });
    expect((await run([{ ...A, profile: 'two' }])).meta?.error).toMatchObject({
      kind: 'format',
      message: expect.stringContaining('There is: one') as string,
    });
    expect(await candidateHealth.list()).toEqual([]);
  });
});

describe('a value that is missing', () => {
  it('is told with what to do, moves on to the next model, and cools nobody', async () => {
    const { run, path, candidateHealth } = runStage({ acts: { a: [says('from a')], b: [says('from b')] } });
    const { payloads, meta } = await run([A, B], { profiles: accounts(() => Promise.reject(missing)) });
    expect(payloads).toMatchObject([{ text: 'from b' }]);
    expect(path()).toEqual(['try a:one', 'auth fall_back', 'try b']);
    expect(meta?.attempts?.[0]?.error).toEqual({
      kind: 'auth',
      isLocal: true,
      message: `${missing.message}. Set KEY.`,
    });
    expect((await candidateHealth.list()).filter(({ state }) => state !== 'closed')).toEqual([]);
  });

  it('is there for the next run as soon as somebody has set it', async () => {
    let isSet = false;
    const profiles = accounts(async (profileId) => (isSet ? { profileId } : Promise.reject(missing)));
    const { run } = runStage({ acts: { a: [says('from a')] } });
    expect((await run([A], { profiles })).meta?.error?.kind).toBe('auth');
    isSet = true;
    expect((await run([A], { profiles })).payloads).toMatchObject([{ text: 'from a' }]);
  });
});

describe('trouble with our own files', () => {
  it.each([
    [
      new RuntimeError('AUTH_PROFILES_INVALID', 'the auth profiles are not safe there', {
        category: 'permission',
        hint: 'chmod 600',
      }),
      'coordination',
    ],
    [new RuntimeError('AUTH_BUSY', 'they are being changed', { category: 'conflict' }), 'coordination'],
    [Object.assign(new Error('too many open files'), { code: 'EMFILE' }), 'server_error'],
  ] as const)('is no failure of the account: %s', async (error, kind) => {
    const { run, candidateHealth } = runStage({ acts: { a: [says('from a')] } });
    const { meta } = await run([A], { ...NO_WAITS, profiles: accounts(() => Promise.reject(error)) });
    expect(meta?.error).toMatchObject({
      kind,
      isLocal: true,
      message: expect.stringContaining(error.message) as string,
    });
    expect((await candidateHealth.list()).filter(({ state }) => state !== 'closed')).toEqual([]);
  });
});

it('accounts that cannot be read end the run with what puts them right, and not as a failure of a model', async () => {
  const exposed = new RuntimeError('AUTH_PROFILES_INVALID', 'the auth profiles are not safe there', {
    category: 'permission',
    hint: 'Only you may read it: chmod 600 profiles.json',
  });
  const { run, candidateHealth } = runStage({ acts: { a: [says('from a')] } });
  const { meta } = await run([A], {
    profiles: accounts(async (profileId) => ({ profileId }), { list: () => Promise.reject(exposed) }),
  });
  expect(meta?.error).toMatchObject({
    kind: 'coordination',
    isLocal: true,
    message: expect.stringContaining('chmod 600') as string,
  });
  expect(await candidateHealth.list()).toEqual([]);
});

describe('what was remembered of an account', () => {
  it.each([
    ['auth', ['one']],
    ['auth_permanent', ['one']],
    ['rate_limit', []],
  ] as const)('after %s is forgotten: %j', async (kind, expected) => {
    const forgotten: string[] = [];
    const { run } = runStage({ acts: { a: [fails(kind)] } });
    await run([A], {
      ...NO_WAITS,
      profiles: accounts(async (profileId) => ({ profileId }), {
        forget: (profileId) => void forgotten.push(profileId),
      }),
    });
    expect(forgotten).toEqual(expected);
  });
});

it('a run that finds everybody at rest says so', async () => {
  const { run } = runStage({ acts: { a: [fails('billing')] } });
  await run([A]);
  expect((await run([A], NO_WAITS)).meta?.error).toMatchObject({ kind: 'billing', isRest: true });
});
