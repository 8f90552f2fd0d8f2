/** What `wakechart inspect` and the options that open an inspector refuse, and in which words. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { runInProcess } from './in-process.ts';
import { Stage } from './stage.ts';

const NOBODY = '0192f0c1-2345-7abc-8def-0123456789ab';

let folder: TemporaryHome;
let stage: Stage;

beforeAll(async () => {
  [folder, stage] = await Promise.all([temporaryHome(), Stage.open()]);
});

afterAll(async () => {
  await stage.close();
  await folder.remove();
});

const pathOf = (name: string): string => join(folder.path, name);
const stands = (expected: string): unknown => expect.stringContaining(expected);

describe('an inspection that makes no sense is refused before anything is opened', () => {
  it.each([
    [['inspect', '--port', '70000'], 'Expected a whole number from 0 to 65535'],
    [['inspect', '--port', '-1'], 'Expected a whole number from 0 to 65535'],
    [['inspect', ''], 'Expected a value that is not empty'],
    [['inspect', '--session', ''], 'Expected a value that is not empty'],
    [['inspect', 'one.ndjson', 'two.ndjson'], 'too many arguments'],
    [['demo', '--inspect-hold'], 'expected --inspect with --inspect-hold'],
    [['wake', '--session', NOBODY, '--inspect-hold'], 'expected --inspect with --inspect-hold'],
    [['task', 'run', '--inspect-hold', '--', 'true'], 'expected --inspect with --inspect-hold'],
    [['task', 'run', '--inspect=none', '--', 'true'], 'Expected a whole number from 0 to 65535'],
    [['worker', '--inspect-hold'], "unknown option '--inspect-hold'"],
  ])('%j', async (words, expected) => {
    const home = words[0] === 'demo' ? [] : ['--home', stage.home];
    expect(await runInProcess([...words, ...home])).toMatchObject({ code: 2, stdout: '', stderr: stands(expected) });
  });
});

describe('what cannot be checked', () => {
  it('is a session of which a recording has no log', async () => {
    const path = pathOf('empty.ndjson.gz');
    await writeFile(path, gzipSync('{"format":"inspection-log/1","boot":"b","startedAt":1}\n'));
    expect(await runInProcess(['inspect', path, '--session', NOBODY])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: stands('[SESSION_NOT_FOUND]'),
    });
  });

  it('is no home', async () => {
    const ended = await runInProcess(['inspect', '--home', pathOf('nowhere')]);
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /there is nothing at .*nowhere \[HOME_NOT_FOUND\]\n {2}hint: Name it with --home DIR, or see one at work: .*demo --inspect\n {2}more: .* explain HOME_NOT_FOUND\n$/,
      ) as string,
    });
    await expect(readFile(pathOf('nowhere'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is a file in place of a home', async () => {
    await writeFile(pathOf('file'), '');
    expect(await runInProcess(['inspect', '--home', pathOf('file')])).toMatchObject({
      code: 1,
      stderr: stands('[HOME_INVALID]'),
    });
  });

  it('is no session of this home', async () => {
    const { id } = await stage.session();
    const ended = await stage.run('inspect', '--session', NOBODY);
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: stands('[SESSION_NOT_FOUND]') });
    expect(ended.stderr).toContain(id);
    expect((await stage.run('inspect', '--session', '../../etc')).code).toBe(2);
  });

  it.each([
    ['a file that is not there', 'missing.ndjson', undefined, 'INSPECTION_FILE_MISSING'],
    ['a folder', '.', undefined, 'INSPECTION_FILE_UNREADABLE'],
    ['an empty file', 'empty.ndjson', '', 'INSPECTION_LOG_REFUSED'],
    ['a text', 'letter.txt', 'Dear all,\n', 'INSPECTION_LOG_REFUSED'],
    ['the log of a session', 'events.jsonl', '{"type":"session.created"}\n', 'INSPECTION_LOG_REFUSED'],
    [
      'a log of another version',
      'later.ndjson',
      '{"format":"inspection-log/2","boot":"b","startedAt":1}\n',
      'INSPECTION_LOG_REFUSED',
    ],
  ])('is %s', async (_what, name, content, code) => {
    if (content !== undefined) await writeFile(pathOf(name), content);
    expect(await stage.run('inspect', pathOf(name))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`\\[${code}\\]\\n {2}hint: `)) as string,
    });
  });

  it('is what nobody pipes in', async () => {
    expect(await stage.run('inspect', '-')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: stands('[INSPECTION_LOG_REFUSED]'),
    });
  });

  it('is shown on a port that is free', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      expect(await stage.run('inspect', '--port', String(port))).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/\[INSPECTOR_PORT_TAKEN\]\n {2}hint: /) as string,
      });
    } finally {
      server.close();
    }
  });
});

describe('a recording', () => {
  it('is never written over anything, and what was to be recorded is not begun', async () => {
    await writeFile(pathOf('precious'), 'mine');
    const ended = await stage.run(
      'task',
      'run',
      '--record',
      pathOf('precious'),
      '--',
      `echo begun >> '${pathOf('begun')}'`,
    );
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: stands('[INSPECTION_LOG_EXISTS]') });
    expect(await readFile(pathOf('precious'), 'utf8')).toBe('mine');
    await expect(readFile(pathOf('begun'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
