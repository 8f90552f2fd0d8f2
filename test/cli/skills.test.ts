/** Skills from the command line: listed, shown, searched, checked. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from './stage.ts';

let stage: Stage;

async function put(
  folder: string,
  name: string,
  source = `---\nname: ${name}\ndescription: About ${name}.\n---\n\n# How\n\nDo ${name}.\n`,
): Promise<void> {
  await mkdir(join(stage.home, folder, name), { recursive: true });
  await writeFile(join(stage.home, folder, name, 'SKILL.md'), source);
}

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

describe('skills', () => {
  it('of an empty home are none, and it says where they would be', async () => {
    const own = await Stage.open();
    try {
      expect(await own.run('skills', 'list')).toMatchObject({
        code: 0,
        stdout: `No skills in ${join(own.home, 'skills')}: each is a folder with a SKILL.md.\n`,
        stderr: '',
      });
    } finally {
      await own.close();
    }
  });

  it('are listed, found and shown, with those of an agent when it is named; one that is broken is noted', async () => {
    await stage.session();
    await put('skills', 'notes');
    await put('skills', 'review');
    await put('skills', 'broken', 'x');
    await put('agents/actor-1/skills', 'own');
    await writeFile(join(stage.home, 'skills', 'notes', 'template.md'), 'Dear \u001b[31mreader');
    const listed = await stage.run('skills', 'list');
    expect(listed).toMatchObject({
      code: 0,
      stdout:
        'NAME    FOR         WHAT IT IS FOR\nnotes   all agents  About notes.\nreview  all agents  About review.\n',
      stderr: expect.stringContaining('broken/SKILL.md is not valid: line 1') as string,
    });
    expect((await stage.run('skills', 'list', '--agent', 'actor-1')).stdout).toContain(
      'own     actor-1     About own.',
    );
    expect(JSON.parse((await stage.run('skills', 'list', '--json')).stdout)).toMatchObject({
      skills: [{ name: 'notes', scope: 'home' }, { name: 'review' }],
      problems: [{ name: 'broken' }],
    });
    expect((await stage.run('skills', 'search', 'how', 'to', 'review')).stdout).toContain(
      'review  name, description, body',
    );
    expect((await stage.run('skills', 'search', 'nothing-like-it')).stdout).toBe('No skill has any of these words.\n');
    expect((await stage.run('skills', 'show', 'notes')).stdout).toMatch(
      /^---\nname: notes\n[^]*Do notes\.\nOther files of it: template\.md\n$/,
    );
    expect((await stage.run('skills', 'show', 'notes', '--file', 'template.md')).stdout).toMatch(
      /^Dear \u241B\[31mreader\n/,
    );
    expect(JSON.parse((await stage.run('skills', 'show', 'own', '--agent', 'actor-1', '--json')).stdout)).toMatchObject(
      { name: 'own', files: ['SKILL.md'] },
    );
  });

  it('that are not there, or files that lie elsewhere, are refused by name', async () => {
    await put('skills', 'notes');
    expect(await stage.run('skills', 'show', 'own')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('SKILL_NOT_FOUND') as string,
    });
    expect(await stage.run('skills', 'show', 'notes', '--file', '../../agents')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('SKILL_FILE_REFUSED') as string,
    });
    expect(await stage.run('skills', 'list', '--agent', 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('AGENT_NOT_FOUND') as string,
    });
    expect((await stage.run('skills', 'search', 'x', '--limit', '0')).code).toBe(2);
    expect(await stage.run('skills', 'search', ' ')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('expected words to search for, received none') as string,
    });
    expect((await stage.run('skills', 'show', 'notes', '--file', '../x')).stderr).toMatch(
      /the path "..\/x" is not valid: expected a path from the folder of the skill, inside it \[SKILL_FILE_REFUSED\]\n  hint: Name a file as the skill lists it/,
    );
    expect((await stage.run('skills', 'show', 'notes', '--file', '.')).stderr).toContain(
      'the file "." of the skill notes is not read: it is the folder of the skill itself',
    );
  });

  it('that are none, or cannot be read, are told by the list and by the doctor', async () => {
    const own = await Stage.open();
    try {
      await own.session();
      await mkdir(join(own.home, 'skills', 'empty'), { recursive: true, mode: 0o700 });
      const torn = join(own.home, 'agents', 'actor-1', 'skills', 'torn');
      await mkdir(torn, { recursive: true, mode: 0o700 });
      await writeFile(join(torn, 'SKILL.md'), 'x', { mode: 0o600 });
      expect(await own.run('skills', 'list')).toMatchObject({
        code: 0,
        stderr: `note: ${join(own.home, 'skills', 'empty')} is passed over: there is no SKILL.md in it\n`,
      });
      expect(JSON.parse((await own.run('skills', 'list', '--json')).stdout)).toMatchObject({
        passedOver: [{ path: join(own.home, 'skills', 'empty') }],
      });
      const { findings } = JSON.parse((await own.run('doctor', '--json')).stdout) as {
        readonly findings: readonly { readonly area: string }[];
      };
      expect(findings.filter(({ area }) => area === 'skills')).toMatchObject([
        { severity: 'note', where: join(own.home, 'skills', 'empty') },
        {
          severity: 'problem',
          where: 'actor-1/torn',
          what: expect.stringContaining('torn/SKILL.md is not valid: line 1') as string,
        },
      ]);
    } finally {
      await own.close();
    }
  });

  it('are checked without being kept', async () => {
    const file = join(stage.home, 'draft.md');
    await writeFile(file, '---\nname: draft\ndescription: A draft.\n---\n');
    expect(await stage.run('skills', 'validate', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Valid: draft, A draft.') as string,
    });
    await writeFile(file, '---\nname: Draft\n---\n');
    const { code, stderr } = await stage.run('skills', 'validate', file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('[SKILL_INVALID]')]);
  });
});
