import { existsSync } from 'node:fs';
import { chmod, link, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuthProfiles } from '../../../src/actors/run/auth-profiles.ts';
import type { CandidateHealthStore } from '../../../src/actors/run/candidate-health-store.ts';
import { createFileAuthProfiles } from '../../../src/adapters/auth-files/file-auth-profiles.ts';
import { createFileCandidateHealthStore } from '../../../src/adapters/auth-files/file-candidate-health-store.ts';
import { underLock } from '../../../src/adapters/system/process-lock.ts';
import type { RuntimeError } from '../../../src/machines/errors.ts';
import type { AuthProfile } from '../../../src/machines/run/auth-profile.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const WORK: AuthProfile = { id: 'work', provider: 'anthropic', secret: { env: 'WORK_KEY' } };
const ONE = { provider: 'anthropic', model: 'large', profile: 'work' };
const OVERLOADED = { kind: 'failed', failure: { kind: 'overloaded', message: 'no' } } as const;

let home: TemporaryHome;
let directory: string;
let profilesPath: string;
let healthPath: string;
let profiles: AuthProfiles;
let candidateHealth: CandidateHealthStore;
let warnings: RuntimeError[];

beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'auth');
  profilesPath = join(directory, 'profiles.json');
  healthPath = join(directory, 'standings.json');
  warnings = [];
  profiles = createFileAuthProfiles({
    directory,
    clock: { steadyNow: () => 0 },
    environment: { WORK_KEY: 'value' },
    exclusively: underLock,
    runCommand: async () => ({ kind: 'failed', because: 'is not run here' }),
  });
  candidateHealth = createFileCandidateHealthStore({
    directory,
    clock: Date,
    exclusively: underLock,
    onWarning: (warning) => warnings.push(warning),
  });
});
afterEach(() => home.remove());

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

/** Makes the folder as it is made, and puts a file in it as it is kept. */
async function put(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(path, content, { mode: 0o600 });
}

describe('the files of accounts', () => {
  it('are made with the first change, for their owner only, and say what they are', async () => {
    expect([await profiles.list(), await candidateHealth.list(), existsSync(directory)]).toEqual([[], [], false]);
    await profiles.add(WORK);
    await candidateHealth.report(ONE, OVERLOADED);
    expect(await Promise.all([directory, profilesPath, healthPath].map(modeOf))).toEqual(['700', '600', '600']);
    expect((await readdir(directory)).toSorted()).toEqual(['profiles.json', 'standings.json']);
    expect(JSON.parse(await readFile(profilesPath, 'utf8'))).toEqual({ format: 'wakechart-auth/1', profiles: [WORK] });
    expect(JSON.parse(await readFile(healthPath, 'utf8'))).toMatchObject({
      format: 'wakechart-standings/1',
      standings: [{ candidate: ONE, state: 'cooling' }],
    });
  });

  it('are not written by what changes nothing', async () => {
    expect(await profiles.remove('work')).toBe(false);
    expect(await candidateHealth.reset()).toBe(0);
    expect((await candidateHealth.admit(ONE)).kind).toBe('admitted');
    expect(await readdir(directory)).toEqual([]);
  });

  it.skipIf(process.getuid === undefined).each([
    ['profiles.json', 0o640, 'chmod 600'],
    ['profiles.json', 0o602, 'chmod 600'],
    ['standings.json', 0o604, 'chmod 600'],
    ['', 0o750, 'chmod 700'],
  ])('are refused when others could reach them: %j with mode %o', async (name, mode, remedy) => {
    await profiles.add(WORK);
    await candidateHealth.report(ONE, OVERLOADED);
    const path = join(directory, name);
    await chmod(path, mode);
    const refusal = { category: 'permission', hint: expect.stringContaining(`${remedy} ${path}`) as string };
    const works =
      name === 'standings.json'
        ? [() => candidateHealth.list(), () => candidateHealth.report(ONE, OVERLOADED)]
        : [() => profiles.list(), () => profiles.credential('work'), () => profiles.add({ ...WORK, id: 'other' })];
    for (const work of works) await expect(work()).rejects.toMatchObject(refusal);
    await chmod(path, name === '' ? 0o700 : 0o600);
    expect(await profiles.list()).toEqual([WORK]);
    expect(warnings).toEqual([]);
  });

  it('are refused when they are links or folders', async () => {
    await put(join(home.path, 'elsewhere'), '{}');
    await symlink(join(home.path, 'elsewhere'), profilesPath);
    await mkdir(healthPath);
    await expect(profiles.list()).rejects.toMatchObject({ code: 'AUTH_PROFILES_INVALID', category: 'permission' });
    await expect(candidateHealth.report(ONE, OVERLOADED)).rejects.toMatchObject({ code: 'CANDIDATE_HEALTH_INVALID' });
  });

  it('are heard of as soon as somebody else has changed them, however soon that is', async () => {
    const beside = createFileCandidateHealthStore({ directory, clock: Date, exclusively: underLock });
    for (let times = 0; times < 30; times += 1) {
      await beside.report(ONE, times % 2 === 0 ? OVERLOADED : { kind: 'succeeded' });
      expect((await candidateHealth.read([ONE]))[0]?.state).toBe(times % 2 === 0 ? 'cooling' : 'closed');
    }
  });
});

const DAMAGED: readonly (readonly [string, string | Uint8Array])[] = [
  ['nothing', ''],
  ['half of it', '{"format":"wakechart-stand'],
  ['another thing', '[]'],
  ['no format', '{"standings":[],"profiles":[]}'],
  ['another format', '{"format":"something/1","standings":[],"profiles":[]}'],
  ['unknown parts', '{"format":"wakechart-standings/1","standings":[],"more":1}'],
  [
    'wrong parts',
    '{"format":"wakechart-standings/1","standings":[{"candidate":{"provider":"p","model":"m"},"state":"broken","failures":-1}]}',
  ],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00])],
  ['far too much', ' '.repeat(4_000_001)],
];

describe('the health of candidates, damaged on the disk,', () => {
  it.each(DAMAGED)('by holding %s are set aside, and begun anew with a warning', async (_, content) => {
    await put(healthPath, content);
    expect(await candidateHealth.read([ONE])).toMatchObject([{ state: 'closed', failures: 0 }]);
    expect(warnings).toMatchObject([{ code: 'CANDIDATE_HEALTH_SET_ASIDE' }]);
    expect(Buffer.from(content).equals(await readFile(`${healthPath}.damaged`))).toBe(true);
    await candidateHealth.report(ONE, OVERLOADED);
    expect(await candidateHealth.list()).toMatchObject([{ candidate: ONE, state: 'cooling' }]);
    expect(warnings).toHaveLength(1);
  });

  it('are set aside once by many who find them at once', async () => {
    await put(healthPath, 'x');
    const all = await Promise.all(
      Array.from({ length: 8 }, () => candidateHealth.report({ ...ONE, profile: 'p' }, OVERLOADED)),
    );
    expect(all.map(({ failures }) => failures)).toEqual(all.map(() => 1));
    expect(warnings).toHaveLength(1);
  });

  it('are left alone when a newer version has written them', async () => {
    await put(healthPath, '{"format":"wakechart-standings/2","standings":{}}');
    await expect(candidateHealth.report(ONE, OVERLOADED)).rejects.toMatchObject({
      code: 'CANDIDATE_HEALTH_INVALID',
      message: expect.stringContaining('newer version') as string,
    });
    expect([warnings, await readdir(directory)]).toEqual([[], ['standings.json']]);
  });
});

describe('accounts that are damaged', () => {
  it.each([
    ...DAMAGED,
    ['a name twice', JSON.stringify({ format: 'wakechart-auth/1', profiles: [WORK, WORK] })],
    ['a newer format', JSON.stringify({ format: 'wakechart-auth/2', profiles: [WORK] })],
  ] as const)('by holding %s are an error, and nothing is written', async (_, content) => {
    await put(profilesPath, content);
    for (const work of [
      () => profiles.list(),
      () => profiles.credential('work'),
      () => profiles.add(WORK),
      () => profiles.remove('work'),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: 'AUTH_PROFILES_INVALID', category: 'storage' });
    }
    expect(Buffer.from(content).equals(await readFile(profilesPath))).toBe(true);
    expect(await readdir(directory)).toEqual(['profiles.json']);
  });

  it('are complained about without repeating what stands there', async () => {
    await put(profilesPath, 'sk-ant-somebody-has-put-a-key-here');
    await expect(profiles.list()).rejects.toMatchObject({ message: expect.not.stringContaining('sk-ant') as string });
  });
});

describe('accounts in a home of which a copy was made by hard links', () => {
  it('are read as before, and the copy stays as it is when they change', async () => {
    await profiles.add(WORK);
    const copy = join(home.path, 'copy.json');
    await link(profilesPath, copy);
    const before = await readFile(copy, 'utf8');
    expect(await profiles.list()).toMatchObject([{ id: 'work' }]);
    await profiles.remove('work');
    expect(await profiles.list()).toEqual([]);
    expect(await readFile(copy, 'utf8')).toBe(before);
  });
});
