import { execFileSync } from 'node:child_process';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileSkillCatalog } from '../../../src/adapters/skill-files/file-skill-catalog.ts';
import { MAX_SKILL_RESOURCE_BYTES } from '../../../src/machines/skill/skill-definition.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let skills: FileSkillCatalog;

beforeEach(async () => {
  home = await temporaryHome();
  skills = new FileSkillCatalog({
    directory: join(home.path, 'skills'),
    agentDirectory: (agentId) => join(home.path, 'agents', agentId, 'skills'),
  });
});

afterEach(() => home.remove());

const text = (name: string, description = `What ${name} is for.`, body = '# Do it'): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;

async function put(name: string, source = text(name), folder = 'skills'): Promise<string> {
  const path = join(home.path, folder, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'SKILL.md'), source);
  return path;
}

describe('skills', () => {
  it('are none where there is no folder of them', async () => {
    expect(await skills.list({ agentId: 'worker' })).toEqual([]);
    await expect(skills.get('any')).rejects.toMatchObject({
      code: 'SKILL_NOT_FOUND',
      hint: 'There are no skills here.',
    });
  });

  it('of an agent go before those of all, also when they are broken', async () => {
    await put('shared');
    await put('common');
    await put('broken');
    await put('shared', text('shared', 'Its own.'), 'agents/worker/skills');
    await put('broken', 'nothing', 'agents/worker/skills');
    const ofAll = await skills.list();
    expect(ofAll.map(({ name, scope }) => `${name} ${scope}`)).toEqual(['broken home', 'common home', 'shared home']);
    const ofWorker = await skills.list({ agentId: 'worker' });
    expect(ofWorker.map(({ name, scope }) => `${name} ${scope}`)).toEqual([
      'broken agent',
      'common home',
      'shared agent',
    ]);
    expect(await skills.get('shared', { agentId: 'worker' })).toMatchObject({
      description: 'Its own.',
      instructions: '# Do it',
    });
    await expect(skills.get('broken', { agentId: 'worker' })).rejects.toMatchObject({ code: 'SKILL_INVALID' });
    expect(await skills.list({ only: ['common'] })).toHaveLength(1);
    await expect(skills.get('shared', { only: ['common'] })).rejects.toMatchObject({
      code: 'SKILL_NOT_FOUND',
      hint: 'There are: common.',
    });
  });

  it.each([
    ['no frontmatter', '# Hello', 'line 1: expected frontmatter'],
    ['no name', '---\ndescription: x\n---\n', 'name: '],
    [
      'another name than its folder',
      text('other'),
      'line 2: name: expected "mine", the name of its folder, received "other"',
    ],
    ['a name that climbs', text('../mine'), 'line 2: name: '],
    [
      'a key that nobody knows',
      '---\nname: mine\ndescription: x\nautorun: rm\n---\n',
      'line 4: autorun: unknown key; expected one of name, description, ',
    ],
    [
      'a key that is misspelt',
      '---\nname: mine\ndescription: x\nlicence: MIT\n---\n',
      'line 4: licence: unknown key; did you mean "license"?',
    ],
    [
      'a description on two lines',
      '---\nname: mine\ndescription: "a\\nb"\n---\n',
      'line 3: description: expected printable text',
    ],
    ['an empty description', '---\nname: mine\ndescription: ""\n---\n', 'line 3: description'],
    ['no YAML', '---\nname: [\n---\n', 'line '],
    ['too much of it', text('mine', 'x', 'y'.repeat(200_001)), 'at most 200000 characters'],
    ['no UTF-8', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]) as unknown as string, 'it is not UTF-8 text'],
  ])('with %s say so, and hide no other', async (_what, source, complaint) => {
    await put('mine', source);
    await put('zebra');
    const listings = await skills.list();
    expect(listings.map(({ name }) => name)).toEqual(['mine', 'zebra']);
    expect(listings[0]).toMatchObject({ error: { message: expect.stringContaining(complaint) as string } });
    expect(listings[1]).toHaveProperty('skill');
  });

  it('are folders with a SKILL.md and a name, and nothing else', async () => {
    await mkdir(join(home.path, 'skills', 'empty'), { recursive: true });
    await mkdir(join(home.path, 'skills', 'Not A Name'), { recursive: true });
    await writeFile(join(home.path, 'skills', 'README.md'), 'x');
    expect(await skills.list()).toEqual([]);
    await expect(skills.get('empty')).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
    for (const name of ['../../etc', '.', '', 'A', 'a/b', 'a\0'])
      await expect(skills.get(name)).rejects.toMatchObject({ code: 'SKILL_NOT_FOUND' });
  });
});

describe('what lies among skills and is none', () => {
  it('is named with the reason, but for what nobody would take for one', async () => {
    await put('fine');
    const at = (name: string): string => join(home.path, 'skills', name);
    for (const folder of ['empty', 'Not A Name', 'spelt', '.git']) await mkdir(at(folder));
    await writeFile(join(at('spelt'), 'skill.md'), text('spelt'));
    for (const file of ['README.md', 'loose.md', 'notes.txt']) await writeFile(at(file), 'x');
    await symlink(join(home.path, 'gone'), at('dangling'));
    expect(await skills.unknownEntries()).toEqual([
      { path: at('Not A Name'), because: expect.stringContaining('lower-case letters') as string },
      { path: at('dangling'), because: 'there is no SKILL.md in it' },
      { path: at('empty'), because: 'there is no SKILL.md in it' },
      { path: at('loose.md'), because: 'a skill is a folder with a SKILL.md in it, and this is a file' },
      { path: at('spelt'), because: 'there is no SKILL.md in it, but "skill.md": rename it' },
    ]);
    await mkdir(join(home.path, 'agents/worker/skills/own'), { recursive: true });
    expect((await skills.unknownEntries({ agentId: 'worker' })).map(({ path }) => path)).toContain(
      join(home.path, 'agents/worker/skills/own'),
    );
  });
});

describe('a file of a skill', () => {
  it('is read with the names of all that there are', async () => {
    const folder = await put('mine');
    await mkdir(join(folder, 'reference', 'deep'), { recursive: true });
    await writeFile(join(folder, 'reference', 'deep', 'forms.md'), 'Fill in.');
    await writeFile(join(folder, '.hidden'), 'x');
    const files = ['SKILL.md', 'reference/deep/forms.md'];
    expect(await skills.read('mine')).toEqual({
      name: 'mine',
      file: 'SKILL.md',
      text: text('mine'),
      bytes: text('mine').length,
      files,
    });
    expect(await skills.read('mine', { file: './reference/deep/forms.md' })).toMatchObject({ text: 'Fill in.', files });
    await expect(skills.read('mine', { file: 'reference/none.md' })).rejects.toMatchObject({
      code: 'SKILL_FILE_NOT_FOUND',
    });
  });

  it.each([
    '/etc/passwd',
    '../other/SKILL.md',
    'a/../../other/SKILL.md',
    '..',
    'a\\..\\b',
    'a\0b',
    '',
    'x'.repeat(1_001),
  ])('named %j is refused before anything is searched for', async (file) => {
    await put('mine');
    await put('other');
    await expect(skills.read('mine', { file })).rejects.toMatchObject({ code: 'SKILL_FILE_REFUSED' });
  });

  it('is not read where a link leads out of its folder, however', async () => {
    const folder = await put('mine');
    const secret = join(home.path, 'secret');
    await mkdir(secret);
    await writeFile(join(secret, 'key.txt'), 'secret');
    await symlink(join(secret, 'key.txt'), join(folder, 'file.txt'));
    await symlink(secret, join(folder, 'folder'));
    await symlink('/proc/self/root', join(folder, 'root'));
    await symlink('loop', join(folder, 'loop'));
    await symlink('SKILL.md', join(folder, 'inside.md'));
    for (const file of ['file.txt', 'folder/key.txt', `root${secret}/key.txt`, 'loop'])
      await expect(skills.read('mine', { file })).rejects.toMatchObject({ code: 'SKILL_FILE_REFUSED' });
    expect(await skills.read('mine', { file: 'inside.md' })).toMatchObject({ text: text('mine'), files: ['SKILL.md'] });
    await put('stolen');
    await symlink(join(secret, 'key.txt'), join(home.path, 'skills', 'stolen', 'SKILL.link'));
    await expect(skills.read('stolen', { file: 'SKILL.link' })).rejects.toMatchObject({ code: 'SKILL_FILE_REFUSED' });
  });

  it('may lie in a folder that people have linked to', async () => {
    const elsewhere = join(home.path, 'elsewhere');
    await mkdir(join(home.path, 'skills'), { recursive: true });
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'SKILL.md'), text('linked'));
    await symlink(elsewhere, join(home.path, 'skills', 'linked'));
    expect(await skills.read('linked')).toMatchObject({ text: text('linked') });
  });

  it('that is no text, no file or too large is refused at once', async () => {
    const folder = await put('mine');
    await writeFile(join(folder, 'image.png'), Buffer.from([0x89, 0x50, 0x00, 0xff]));
    await writeFile(join(folder, 'large.txt'), 'x'.repeat(MAX_SKILL_RESOURCE_BYTES + 1));
    await mkdir(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const file of ['image.png', 'large.txt', 'folder', 'pipe', '.'])
      await expect(skills.read('mine', { file })).rejects.toMatchObject({ code: 'SKILL_FILE_REFUSED' });
    await link(join(folder, 'SKILL.md'), join(folder, 'COPY.md'));
    expect((await skills.read('mine', { file: 'COPY.md' })).text).toBe(text('mine'));
  });
});
