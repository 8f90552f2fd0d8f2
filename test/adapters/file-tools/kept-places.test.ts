import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionEnvironment } from '../../../src/actors/environment/session-environment.ts';
import { SANDBOXED_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import { mountedSetup } from './mounted-setup.ts';
import type { MountedSetup } from './mounted-setup.ts';

const SECRET = 'secrets: { key: { value: "KEPT-SECRET" } }\n';
const DENIED = { code: 'FILE_ACCESS_DENIED' };

interface Place {
  readonly setup: MountedSetup;
  call(name: string, input: unknown): Promise<unknown>;
}

/** A project with the home in it, another home below, and a repository. */
async function project(sandbox: 'required' | 'off'): Promise<Place> {
  const setup = await mountedSetup({ homeIn: 'workspace/.wakechart' });
  for (const path of ['.wakechart/vaults/v.yaml', '.wakechart/auth/a.json', 'tools/.wakechart/vaults/o.yaml'])
    await setup.putIn('workspace', path, SECRET);
  await setup.putIn('workspace', '.wakechart/notes.md', 'notes\n');
  await setup.putIn('workspace', '.git/config', '[core]\n');
  const { environment } = setup;
  const shutIn: SessionEnvironment =
    sandbox === 'off' ? environment : { ...environment, definition: SANDBOXED_ENVIRONMENT };
  return { setup, call: (name, input) => setup.call(name, input, { environment: shutIn }) };
}

describe('file tools of a session whose commands are shut in', () => {
  it.each([
    '.wakechart/vaults/v.yaml',
    '.wakechart/notes.md',
    'tools/.wakechart/vaults/o.yaml',
    '/workspace/.wakechart/auth/a.json',
    '.wakechart',
  ])('read nothing of a home in the workspace: %s', async (path) => {
    const { call } = await project('required');
    await expect(call('read', { path })).rejects.toMatchObject(DENIED);
  });

  it('make no home of their own, which somebody would run later', async () => {
    const { call } = await project('required');
    for (const path of [
      'sub/.wakechart/environments/host.yaml',
      'tools/.wakechart/agents/a/agent.md',
      '.wakechart/environments/e.yaml',
    ])
      await expect(call('write', { path, content: 'sandbox: off\n' })).rejects.toMatchObject(DENIED);
  });

  it('see no line and no name of one, whatever they are asked for', async () => {
    const { call } = await project('required');
    const scope = { includeHidden: true, includeIgnored: true };
    expect(JSON.stringify(await call('grep', { pattern: 'KEPT', ...scope }))).not.toContain('SECRET');
    expect(JSON.stringify(await call('glob', { pattern: '**/*.yaml', ...scope }))).not.toContain('yaml"');
    await expect(call('grep', { pattern: 'KEPT', path: '.wakechart', ...scope })).rejects.toMatchObject(DENIED);
  });

  it('do not get there through a link either', async () => {
    const { setup, call } = await project('required');
    await symlink(join(setup.workspace, '.wakechart'), join(setup.workspace, 'way'));
    await expect(call('read', { path: 'way/vaults/v.yaml' })).rejects.toMatchObject(DENIED);
    await expect(call('write', { path: 'way/x', content: '' })).rejects.toMatchObject(DENIED);
  });

  it('write nothing into a repository, whose hooks people run, and read it', async () => {
    const { setup, call } = await project('required');
    for (const path of ['.git/hooks/post-commit', 'sub/.git/config', 'sub/.git', '/data/.git/config'])
      await expect(call('write', { path, content: 'x' })).rejects.toMatchObject(DENIED);
    await call('read', { path: '.git/config' });
    await expect(call('edit', { path: '.git/config', oldText: '[core]', newText: '[evil]' })).rejects.toThrow();
    expect(await readFile(join(setup.workspace, '.git/config'), 'utf8')).toBe('[core]\n');
  });

  it('work in mounts that lie in the home', async () => {
    const setup = await mountedSetup({ homeIn: '.' });
    const shutIn = { ...setup.environment, definition: SANDBOXED_ENVIRONMENT };
    await expect(setup.call('write', { path: 'a.txt', content: 'a' }, { environment: shutIn })).resolves.toMatchObject({
      action: 'created',
    });
    await expect(
      setup.call('write', { path: '/runtime/b.txt', content: 'b' }, { environment: shutIn }),
    ).resolves.toMatchObject({ action: 'created' });
  });
});

describe('file tools of a session on the host', () => {
  it.each(['.wakechart/vaults/v.yaml', '.wakechart/auth/a.json'])('read no secret of the home: %s', async (path) => {
    const { call } = await project('off');
    await expect(call('read', { path })).rejects.toMatchObject(DENIED);
  });

  it('read what else is in it', async () => {
    const { call } = await project('off');
    expect(JSON.stringify(await call('read', { path: '.wakechart/notes.md' }))).toContain('notes');
  });
});
