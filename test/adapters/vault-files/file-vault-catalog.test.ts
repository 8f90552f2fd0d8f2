/** Vault files: read when they are their owner's alone, refused in words that repeat nothing of them. */
import { chmod, link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileVaultCatalog, readSecretFile } from '../../../src/adapters/vault-files/file-vault-catalog.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const SECRET = 'ghp_Ab3dEf6hIj9kLm2nOp5q';

let home: TemporaryHome;
let directory: string;
let catalog: FileVaultCatalog;

beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'vaults');
  catalog = new FileVaultCatalog({ directory });
  await mkdir(directory, { mode: 0o700 });
});
afterEach(() => home.remove());

const write = (name: string, text: string, mode = 0o600): Promise<void> =>
  writeFile(join(directory, name), text, { mode });

async function refusalOf(work: Promise<unknown>): Promise<RuntimeError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!RuntimeError.is(error)) throw new Error('expected a refusal');
  expect(JSON.stringify([error.toJSON(), String(error.cause)])).not.toContain(SECRET);
  return error;
}

describe('a vault file', () => {
  it('says where secrets are and where they may go', async () => {
    await write(
      'github.yaml',
      `description: For releases\nsecrets:\n  token: { env: GITHUB_TOKEN, hosts: [api.github.com, "*.example.com"], description: A token }\n  deploy: { command: [pass, show, deploy], commands: true }\n  key: { file: /run/secrets/key }\n  own: { value: ${SECRET} }\n`,
    );
    expect(await catalog.get('github')).toMatchObject({
      name: 'github',
      description: 'For releases',
      secrets: {
        token: { env: 'GITHUB_TOKEN', hosts: ['api.github.com', '*.example.com'], commands: false },
        deploy: { command: ['pass', 'show', 'deploy'], commands: true, hosts: [] },
        key: { file: '/run/secrets/key' },
        own: { value: SECRET },
      },
    });
  });

  it.each([
    ['no YAML', `secrets: { token: "${SECRET}`, 'line 1'],
    ['a secret in place of where it is', `secrets:\n  token: ${SECRET}\n`, 'line 2'],
    ['a secret in place of a name', `secrets:\n  ${SECRET}: { env: A }\n`, 'line'],
    ['two places', `secrets:\n  token: { value: ${SECRET}, env: A }\n`, 'exactly one of'],
    ['no place', 'secrets:\n  token: { hosts: [a.example] }\n', 'exactly one of'],
    ['an unknown key', `secrets:\n  token: { env: A, ${SECRET}: x }\n`, 'unknown keys'],
    ['a URL in place of a host', 'secrets:\n  token: { env: A, hosts: ["https://a.example/x"] }\n', 'expected a host'],
    ['a star for everything', 'secrets:\n  token: { env: A, hosts: ["*.com"] }\n', 'expected a host'],
    ['a relative file', 'secrets:\n  token: { file: key.txt }\n', 'absolute'],
    ['an alias', `secrets:\n  a: &x { value: ${SECRET} }\n  b: *x\n`, 'no aliases'],
    ['the same name twice', 'secrets:\n  a: { env: A }\n  a: { env: B }\n', 'line 3'],
    ['nothing', '', 'secrets'],
  ])('with %s is refused, and what is in it is not repeated', async (_what, text, words) => {
    await write('bad.yaml', text);
    const error = await refusalOf(catalog.get('bad'));
    expect(error).toMatchObject({ code: 'VAULT_INVALID' });
    expect(error.message).toContain(words);
    expect(error.message).toContain('bad.yaml');
  });

  it('that others can read is refused with what to do', async () => {
    await write('open.yaml', `secrets: { t: { value: ${SECRET} } }`);
    await chmod(join(directory, 'open.yaml'), 0o644);
    expect(await refusalOf(catalog.get('open'))).toMatchObject({
      code: 'VAULT_INVALID',
      hint: expect.stringContaining('chmod 600') as string,
    });
  });

  it('in a folder that others can change is refused', async () => {
    await write('v.yaml', 'secrets: {}');
    await chmod(directory, 0o777);
    expect(await refusalOf(catalog.get('v'))).toMatchObject({
      code: 'VAULT_INVALID',
      hint: expect.stringContaining('chmod 700') as string,
    });
  });

  it('that is a link, a hard link, a folder or a pipe is refused', async () => {
    await writeFile(join(home.path, 'elsewhere'), 'secrets: {}', { mode: 0o600 });
    await symlink(join(home.path, 'elsewhere'), join(directory, 'linked.yaml'));
    await link(join(home.path, 'elsewhere'), join(directory, 'hard.yaml'));
    await mkdir(join(directory, 'folder.yaml'));
    execFileSync('mkfifo', ['-m', '600', join(directory, 'pipe.yaml')]);
    for (const name of ['linked', 'hard', 'folder', 'pipe'])
      expect(await refusalOf(catalog.get(name))).toMatchObject({ code: 'VAULT_INVALID' });
  });

  it('that is not there is told with those that are', async () => {
    await write('github.yaml', 'secrets: {}');
    expect(await refusalOf(catalog.get('gitlab'))).toMatchObject({
      code: 'VAULT_NOT_FOUND',
      hint: expect.stringContaining('github') as string,
    });
    for (const name of ['../github', 'a/b', 'GITHUB', ''])
      expect(await refusalOf(catalog.get(name))).toMatchObject({ code: 'VAULT_NOT_FOUND' });
  });

  it('that cannot be read keeps no other from being listed', async () => {
    await write('good.yaml', 'secrets: {}');
    await write('bad.yaml', 'secrets: 1');
    await write('notes.txt', 'x');
    expect(
      (await catalog.list()).map((listing) => [listing.name, 'error' in listing ? listing.error.code : 'fine']),
    ).toEqual([
      ['bad', 'VAULT_INVALID'],
      ['good', 'fine'],
    ]);
    expect(await new FileVaultCatalog({ directory: join(home.path, 'nowhere') }).list()).toEqual([]);
  });
});

describe('a file that a vault names', () => {
  it('is read, also through a link, when it is a file of bearable size', async () => {
    const path = join(home.path, 'key');
    await writeFile(path, `${SECRET}\n`);
    await symlink(path, join(home.path, 'link'));
    expect(await readSecretFile(join(home.path, 'link'))).toBe(`${SECRET}\n`);
    await expect(readSecretFile(home.path)).rejects.toThrow(/is no file|cannot be read/);
    await expect(readSecretFile(join(home.path, 'none'))).rejects.toThrow('is not there');
    await writeFile(path, 'x'.repeat(70_000));
    await expect(readSecretFile(path)).rejects.toThrow('has more than 65536 bytes');
  });
});
