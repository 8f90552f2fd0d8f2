import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Step } from '../../fixtures/acp-agents/agent.mjs';
import { acpSetup, answering, told } from './acp-setup.ts';
import type { StartedRun } from '../../support/program-setup.ts';
import type { AcpSetup, Note } from './acp-setup.ts';

let setup: AcpSetup;
const at = (path: string): string => join(setup.workspaceDir, path);
const read = (path: string, more: object = {}): Step => ({
  request: { method: 'fs/read_text_file', params: { path, ...more } },
});
const write = (path: string, content: string): Step => ({
  request: { method: 'fs/write_text_file', params: { path, content } },
});

const made = async (work: Promise<unknown>, path: string): Promise<string> => {
  await work;
  return path;
};

const allowedAfter = async (work: Promise<unknown>): Promise<{ readonly decision: 'allow' }> => {
  await work;
  return { decision: 'allow' };
};

beforeEach(async () => {
  setup = await acpSetup();
});

afterEach(async () => {
  expect(await setup.left()).toEqual([]);
  await setup.close();
});

async function asked(
  step: Step,
  person = answering(),
): Promise<{
  readonly answer: Note | undefined;
  readonly run: StartedRun;
  readonly person: ReturnType<typeof answering>;
}> {
  const run = setup.start({ model: await setup.scenario(step, { say: 'x' }), ...person });
  await run.result;
  return { answer: setup.notes().findLast(({ method }) => method !== undefined), run, person };
}

describe('an agent that reads through us', () => {
  it.each<[string, object, string]>([
    ['all of it', {}, 'one\ntwo\nthree'],
    ['from a line on', { line: 2 }, 'two\nthree'],
    ['a number of lines', { limit: 2 }, 'one\ntwo\n'],
    ['a line in the middle', { line: 2, limit: 1 }, 'two\n'],
    ['what lies behind the end', { line: 9 }, ''],
    ['no line', { line: 1, limit: 0 }, ''],
  ])('gets %s', async (_what, more, content) => {
    await writeFile(at('a.txt'), 'one\ntwo\nthree');
    const { answer, person, run } = await asked(read(at('a.txt'), more));
    expect(answer?.result).toEqual({ content });
    expect(person.asked).toEqual([
      {
        callId: 'asked-of-us:1',
        name: 'fs/read_text_file',
        input: { path: at('a.txt'), ...more },
        means: { kind: 'read', path: at('a.txt') },
      },
    ]);
    expect(told(run.events)).toEqual([
      'lifecycle start',
      'tool requested fs/read_text_file',
      'tool started',
      'tool ended completed',
      'assistant text x',
      'lifecycle end',
    ]);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['a relative path', () => Promise.resolve('a.txt'), 'expected an absolute path'],
    ['a path out of the workspace', () => Promise.resolve(at('../../etc/passwd')), 'lies outside the workspace'],
    [
      'a link out of the workspace',
      () => made(symlink('/etc/passwd', at('link')), at('link')),
      'lies outside the workspace',
    ],
    [
      'a folder behind a link',
      () => made(symlink('/etc', at('folder')), at('folder/passwd')),
      'lies outside the workspace',
    ],
    ['a folder', () => made(mkdir(at('d')), at('d')), 'is no file'],
    ['what is not there', () => Promise.resolve(at('none')), 'there is no'],
    [
      'what is no text',
      () => made(writeFile(at('bin'), Buffer.from([0xff, 0xfe, 0x00])), at('bin')),
      'is no text in UTF-8',
    ],
    [
      'what is too large',
      () => made(writeFile(at('big'), Buffer.alloc(10 * 1024 * 1024 + 1)), at('big')),
      'are read at most',
    ],
  ])('does not get %s', async (_what, path, says) => {
    const { answer, run } = await asked(read(await path()));
    expect(answer?.error?.message).toContain(says);
    expect(told(run.events).filter((each) => /^tool ended (?:denied|failed)$/.test(each))).toHaveLength(1);
  });

  it('does not get what is denied', async () => {
    await writeFile(at('a.txt'), 'hidden');
    const { answer, run } = await asked(
      read(at('a.txt')),
      answering(() => 'deny'),
    );
    expect(answer?.error).toEqual({ code: -32603, message: 'Not today.' });
    expect(told(run.events)).toContain('tool ended denied');
  });

  it('does not get what a link leads to that was put there while somebody was asked', async () => {
    await writeFile(at('a.txt'), 'mine');
    const swap = { asked: [], requestPermission: () => allowedAfter(symlinkOver(at('a.txt'), '/etc/passwd')) };
    const { answer } = await asked(read(at('a.txt')), swap);
    expect(answer?.error?.message).toContain('lies outside the workspace');
  });
});

async function symlinkOver(path: string, target: string): Promise<void> {
  await rm(path, { force: true });
  await symlink(target, path);
}

describe('an agent that writes through us', () => {
  it('makes a file, and the folders on the way', async () => {
    const { answer, person } = await asked(write(at('new/deep/a.txt'), 'Häuser'));
    expect(answer?.result).toEqual({});
    expect(await readFile(at('new/deep/a.txt'), 'utf8')).toBe('Häuser');
    expect(person.asked).toMatchObject([
      {
        name: 'fs/write_text_file',
        input: { content: 'Häuser' },
        means: { kind: 'write', path: at('new/deep/a.txt') },
      },
    ]);
  });

  it('replaces a file all at once, and leaves its mode', async () => {
    await writeFile(at('a.sh'), 'old');
    await chmod(at('a.sh'), 0o750);
    await asked(write(at('a.sh'), 'new'));
    expect([
      await readFile(at('a.sh'), 'utf8'),
      (await stat(at('a.sh'))).mode & 0o777,
      await readdir(setup.workspaceDir),
    ]).toEqual(['new', 0o750, ['a.sh']]);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['out of the workspace', () => Promise.resolve(join(setup.directory, 'out.txt')), 'lies outside the workspace'],
    [
      'through a link out of the workspace',
      () => made(symlink(setup.directory, at('up')), at('up/out.txt')),
      'lies outside the workspace',
    ],
    [
      'through a link to nowhere',
      () => made(symlink(join(setup.directory, 'out.txt'), at('nowhere')), at('nowhere')),
      'leads through a symbolic link to nowhere',
    ],
    ['over a folder', () => made(mkdir(at('d')), at('d')), 'is no file'],
  ])('does not write %s', async (_what, path, says) => {
    const { answer } = await asked(write(await path(), 'x'));
    expect(answer?.error?.message).toContain(says);
    expect(await readdir(setup.directory)).not.toContain('out.txt');
  });

  it('changes nothing that is denied, or that was a link out of the workspace by the time it was allowed', async () => {
    await mkdir(at('d'));
    const { answer: denied } = await asked(
      write(at('d/a.txt'), 'x'),
      answering(() => 'deny'),
    );
    expect(denied?.error?.message).toBe('Not today.');
    const swap = { asked: [], requestPermission: () => allowedAfter(swapFolder()) };
    const { answer: swapped } = await asked(write(at('d/out.txt'), 'x'), swap);
    expect(swapped?.error?.message).toContain('lies outside the workspace');
    expect([await readdir(setup.directory), await readdir(at('.'))]).toEqual([
      expect.not.arrayContaining(['out.txt', 'a.txt']),
      ['d'],
    ]);
  });

  async function swapFolder(): Promise<void> {
    await rm(at('d'), { recursive: true });
    await symlink(setup.directory, at('d'));
  }

  it('cannot once nobody is there to permit it, or when it means another session', async () => {
    const model = await setup.scenario(write(at('a.txt'), 'x'));
    await setup.run({ model });
    expect(setup.answersTo('fs/write_text_file')[0]?.error?.message).toBe('No person is there to permit it.');
    const { answer } = await asked({
      request: { method: 'fs/write_text_file', params: { sessionId: 'another', path: at('a.txt'), content: 'x' } },
    });
    expect([answer?.error?.code, await readdir(setup.workspaceDir)]).toEqual([-32602, []]);
  });
});
