import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../src/actors/environment/session-environments.ts';
import { FileEnvironmentCatalog } from '../../../src/adapters/environment-files/file-environment-catalog.ts';
import {
  MAX_ENVIRONMENT_FILE_CHARACTERS,
  SANDBOXED_ENVIRONMENT,
} from '../../../src/machines/environment/environment-definition.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let folder: TemporaryHome;
let home = '';
let catalog: FileEnvironmentCatalog;

beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  catalog = new FileEnvironmentCatalog({ home });
});

afterEach(() => folder.remove());

const pathOf = (name: string): string => join(home, 'environments', name);

async function put(name: string, text: string | Uint8Array): Promise<void> {
  await mkdir(join(home, 'environments'), { recursive: true, mode: 0o700 });
  await writeFile(pathOf(name), text, { mode: 0o600 });
}

async function refusal(work: Promise<unknown>): Promise<RuntimeError> {
  try {
    await work;
  } catch (error) {
    if (RuntimeError.is(error)) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

describe('the environments of a home', () => {
  it('are the two that are built in, when there is no file and no home', async () => {
    expect((await catalog.list()).map(({ environmentId }) => environmentId)).toEqual(['host', 'sandboxed']);
    expect(await catalog.get('sandboxed')).toEqual(SANDBOXED_ENVIRONMENT);
  });

  it('are made, listed and read, for their owner only', async () => {
    const made = await catalog.create('builds', 'sandbox: required\nmounts:\n  - { path: /data, source: ../shared }\n');
    expect(made).toMatchObject({
      environmentId: 'builds',
      network: 'disabled',
      mounts: [{ path: '/data', source: join(folder.path, 'shared'), access: 'ro' }],
    });
    expect(await catalog.get('builds')).toEqual(made);
    expect((await stat(pathOf('builds.yaml'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, 'environments'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(home, 'environments'))).toEqual(['builds.yaml']);
  });

  it('take the place of one that is built in', async () => {
    await put('host.yaml', 'sandbox: required\n');
    expect(await catalog.get('host')).toMatchObject({ sandbox: 'required' });
    expect((await catalog.list()).filter(({ environmentId }) => environmentId === 'host')).toMatchObject([
      { isBuiltIn: false },
    ]);
  });

  it('are each there while another one cannot be read', async () => {
    await put('good.yaml', 'sandbox: off\n');
    await put('bad.yaml', 'sandbox: maybe\n');
    await put('torn.yaml', 'sandbox: [');
    await put('Other Name.yaml', 'sandbox: off\n');
    await put('short.yml', 'sandbox: off\n');
    await mkdir(pathOf('folder.yaml'));
    const listed = await catalog.list();
    expect(listed.map((listing) => [listing.environmentId, 'error' in listing ? listing.error.code : 'there'])).toEqual(
      [
        ['Other Name', 'ENVIRONMENT_INVALID'],
        ['bad', 'ENVIRONMENT_INVALID'],
        ['folder', 'ENVIRONMENT_INVALID'],
        ['good', 'there'],
        ['host', 'there'],
        ['sandboxed', 'there'],
        ['short.yml', 'ENVIRONMENT_INVALID'],
        ['torn', 'ENVIRONMENT_INVALID'],
      ],
    );
  });

  it('are never replaced by making one of the same name, whoever comes first', async () => {
    const both = await Promise.allSettled([
      catalog.create('mine', 'sandbox: off\n'),
      catalog.create('mine', 'sandbox: required\n'),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(both.flatMap((each) => (each.status === 'rejected' ? [(each.reason as RuntimeError).code] : []))).toEqual([
      'ENVIRONMENT_EXISTS',
    ]);
    expect(await readdir(join(home, 'environments'))).toEqual(['mine.yaml']);
  });

  it('are named when one is not there, and the one that was probably meant', async () => {
    await put('builds.yaml', 'sandbox: off\n');
    const error = await refusal(catalog.get('build'));
    expect(error).toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND', message: 'there is no environment "build"' });
    expect(error.hint).toMatch(/Did you mean "builds"\? .*builds, host, sandboxed/);
  });

  it.each(['../host', 'a/b', '', 'A', 'x'.repeat(65), '.known'])('have no name like %j', async (name) => {
    expect(await refusal(catalog.get(name))).toMatchObject({ code: 'ENVIRONMENT_INVALID', category: 'validation' });
    expect(await refusal(catalog.create(name, 'sandbox: off\n'))).toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  });
});

describe('what is wrong with an environment file is named with its line', () => {
  it.each<[string, string]>([
    ['sandbox: maybe\n', 'line 1: sandbox: expected one of "required"|"off"'],
    ['description: x\n\nsandbox: off\nnetwork: disabled\n', 'line 4: network: expected "open"'],
    ['sandbox: off\nmount: []\n', 'line 2: mount: unknown key; did you mean "mounts"?'],
    [
      'sandbox: off\nbudget:\n  maxTokenPerWake: 5\n',
      'line 3: budget.maxTokenPerWake: unknown key; did you mean "maxTokensPerWake"?',
    ],
    [
      'sandbox: off\nquota: { files: 5, elephants: 3 }\n',
      'line 2: quota.elephants: unknown key; expected one of maxBytes, maxFiles',
    ],
    [
      'sandbox: off\nmounts:\n  - path: /a\n    sorce: /b\n',
      'line 4: mounts[0].sorce: unknown key; did you mean "source"?',
    ],
    [
      'sandbox: off\nevaluation:\n  check: { command: x, timeout: 5 }\n',
      'line 3: evaluation.check.timeout: unknown key; did you mean "timeoutSeconds"?',
    ],
    ['sandbox: off\nmounts:\n  - path: /a\n    source: ~/data\n', 'line 4: mounts[0].source: expected a path from "/"'],
    ['sandbox: off\nsandbox: required\n', 'line 2: Map keys must be unique'],
    ['', 'line 1: expected object'],
    ['- a\n', 'line 1: expected object'],
    ['sandbox: off\n---\nsandbox: required\n', 'line 2'],
    [
      'a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c]\nsandbox: off\n',
      'line 1: Excessive alias count',
    ],
  ])('%j: %s', async (source, message) => {
    const error = await refusal((async () => catalog.validate('e', source, 'mine.yaml'))());
    expect(error).toMatchObject({ code: 'ENVIRONMENT_INVALID', category: 'validation' });
    expect(error.message).toContain('environment file mine.yaml is not valid');
    expect(error.message).toContain(message);
  });

  it('and one that is too long, or nested too deeply, is no crash', async () => {
    await put('long.yaml', `sandbox: off\n#${'x'.repeat(MAX_ENVIRONMENT_FILE_CHARACTERS)}`);
    await put('longer.yaml', `sandbox: off\n#${'x'.repeat(MAX_ENVIRONMENT_FILE_CHARACTERS * 5)}`);
    await put('deep.yaml', `sandbox: off\nmounts: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`);
    for (const name of ['long', 'longer', 'deep'])
      expect(await refusal(catalog.get(name))).toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  });
});

describe('an environment file that somebody else may have put there', () => {
  it('is refused when it is a link, or lies behind one', async () => {
    await put('real.yaml', 'sandbox: off\n');
    await symlink(pathOf('real.yaml'), pathOf('linked.yaml'));
    expect((await refusal(catalog.get('linked'))).message).toMatch(/cannot be relied on: it is a link/);
    const elsewhere = join(folder.path, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(join(home, 'environments'), join(elsewhere, 'environments'));
    expect(await refusal(new FileEnvironmentCatalog({ home: elsewhere }).get('host'))).toMatchObject({
      code: 'ENVIRONMENT_INVALID',
    });
  });

  it('is refused when others may write it, or its folder', async () => {
    await put('open.yaml', 'sandbox: off\n');
    await chmod(pathOf('open.yaml'), 0o666);
    expect(await refusal(catalog.get('open'))).toMatchObject({
      code: 'ENVIRONMENT_INVALID',
      hint: expect.stringContaining('chmod go-w') as unknown,
    });
    await chmod(pathOf('open.yaml'), 0o600);
    expect(await catalog.get('open')).toMatchObject({ sandbox: 'off' });
    await chmod(join(home, 'environments'), 0o777);
    expect(await refusal(catalog.get('open'))).toMatchObject({ code: 'ENVIRONMENT_INVALID' });
  });

  it('is refused when it is no text', async () => {
    await put('latin.yaml', Buffer.from([0x73, 0xe9, 0x3a]));
    expect((await refusal(catalog.get('latin'))).message).toMatch(/not UTF-8/);
  });
});

describe('what a wake worked in', () => {
  it('is known by its fingerprint after the file has changed', async () => {
    const before = await catalog.create('builds', 'sandbox: required\nvaults: [github]\n');
    const fingerprint = await fingerprintOf(before);
    await catalog.remember(fingerprint, before);
    await catalog.remember(fingerprint, before);
    await writeFile(pathOf('builds.yaml'), 'sandbox: off\n');
    expect(await catalog.recall(fingerprint)).toEqual(before);
    expect(await readdir(pathOf('.known'))).toEqual([`${fingerprint}.json`]);
    expect((await catalog.list()).map(({ environmentId }) => environmentId)).toEqual(['builds', 'host', 'sandboxed']);
  });

  it('is kept once by many at the same time', async () => {
    const fingerprint = await fingerprintOf(SANDBOXED_ENVIRONMENT);
    await Promise.all(Array.from({ length: 20 }, () => catalog.remember(fingerprint, SANDBOXED_ENVIRONMENT)));
    expect(await catalog.recall(fingerprint)).toEqual(SANDBOXED_ENVIRONMENT);
    expect(await readdir(pathOf('.known'))).toEqual([`${fingerprint}.json`]);
  });

  it('is written anew when it was damaged, and said to be damaged until then', async () => {
    const fingerprint = await fingerprintOf(SANDBOXED_ENVIRONMENT);
    await catalog.remember(fingerprint, SANDBOXED_ENVIRONMENT);
    await writeFile(join(pathOf('.known'), `${fingerprint}.json`), '{"sandbox":');
    expect(await refusal(catalog.recall(fingerprint))).toMatchObject({ code: 'ENVIRONMENT_INVALID' });
    await catalog.remember(fingerprint, SANDBOXED_ENVIRONMENT);
    expect(JSON.parse(await readFile(join(pathOf('.known'), `${fingerprint}.json`), 'utf8'))).toEqual(
      SANDBOXED_ENVIRONMENT,
    );
  });

  it('is unknown when nothing is kept, and no fingerprint leads anywhere else', async () => {
    expect(await catalog.recall('0'.repeat(64))).toBeUndefined();
    expect(await refusal(catalog.recall('../host'))).toMatchObject({ code: 'ENVIRONMENT_INVALID' });
    await rm(home, { recursive: true, force: true });
    expect(await catalog.recall('0'.repeat(64))).toBeUndefined();
  });
});
