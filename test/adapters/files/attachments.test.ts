/**
 * Files that come with messages, on a real disk: what is kept, what is refused, and that nothing is left of what was
 * refused.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAttachmentFiles } from '../../../src/adapters/files/attachment-files.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { MAX_ATTACHMENT_BYTES } from '../../../src/machines/session/attachment-name.ts';
import type { SessionEventData } from '../../../src/machines/session/session-event.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const FOLDER = '.wakechart-runtime/attachments';
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

let home: TemporaryHome;
let runtime: NodeRuntime;
let sessionId = '';
let workspace = '';

beforeEach(async () => {
  home = await temporaryHome();
  runtime = await createNodeRuntime({ home: home.path });
  await runtime.agents.create({
    agentId: 'reader',
    source: { frontmatter: { name: 'Reader', provider: 'script', model: 'script.json' }, instructions: 'Read.' },
  });
  ({ sessionId } = await runtime.sessions.create({ agentId: 'reader' }));
  workspace = join(home.path, 'agents/reader/sessions', sessionId, 'workspace');
  await writeFile(at('notes.md'), '# Notes\n');
  await writeFile(at('shot.txt'), PNG);
});

afterEach(async () => {
  await runtime.shutdown();
  await home.remove();
});

const at = (name: string): string => join(home.path, name);
const sha256Of = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
const kept = (): Promise<string[]> => readdir(join(workspace, FOLDER)).catch(() => []);
const send = (
  attachments: { path: string; name?: string; mediaType?: string }[],
  options = {},
): Promise<{ readonly seq: number }> =>
  runtime.sessions.send(sessionId, { type: 'user.message', text: 'See this.', attachments }, options);

async function messages(): Promise<SessionEventData<'user.message'>[]> {
  const found: SessionEventData<'user.message'>[] = [];
  for await (const event of runtime.sessions.events(sessionId))
    if (event.type === 'user.message') found.push(event.data);
  return found;
}

async function refusalOf(sending: Promise<unknown>): Promise<RuntimeError> {
  const error: unknown = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!RuntimeError.is(error)) throw new Error('it was not refused');
  return error;
}

describe('a message with files', () => {
  it('says what they are and where the agent finds them', async () => {
    await send([{ path: at('notes.md') }, { path: at('shot.txt'), name: 'What I see.txt', mediaType: 'text/plain' }]);
    const [message] = await messages();
    expect(message?.attachments).toEqual([
      {
        kind: 'file',
        name: 'notes.md',
        mediaType: 'text/markdown',
        bytes: 8,
        sha256: sha256Of('# Notes\n'),
        path: `${FOLDER}/${sha256Of('# Notes\n')}.md`,
      },
      {
        kind: 'image',
        name: 'What I see.txt',
        mediaType: 'image/png',
        bytes: PNG.length,
        sha256: sha256Of(PNG),
        path: `${FOLDER}/${sha256Of(PNG)}.txt`,
      },
    ]);
    for (const { path, sha256 } of message?.attachments ?? [])
      expect(sha256Of(await readFile(join(workspace, path)))).toBe(sha256);
  });

  it('sent again under its key stores nothing more, even when the file is gone', async () => {
    const first = await send([{ path: at('notes.md') }], { idempotencyKey: 'once' });
    await rm(at('notes.md'));
    expect(await send([{ path: at('notes.md') }], { idempotencyKey: 'once' })).toEqual(first);
    expect(await messages()).toHaveLength(1);
    expect(await kept()).toHaveLength(1);
  });

  it('sent many times at once under one key is stored once', async () => {
    const receipts = await Promise.all(
      Array.from({ length: 5 }, () => send([{ path: at('notes.md') }], { idempotencyKey: 'once' })),
    );
    expect(new Set(receipts.map(({ seq }) => seq)).size).toBe(1);
    expect(await kept()).toEqual([`${sha256Of('# Notes\n')}.md`]);
  });

  it('with the same content twice keeps it once, and mends a copy that was changed meanwhile', async () => {
    await send([{ path: at('notes.md') }]);
    const copy = join(workspace, FOLDER, `${sha256Of('# Notes\n')}.md`);
    await writeFile(copy, 'forged');
    await send([{ path: at('notes.md') }, { path: at('notes.md'), name: 'again.md' }]);
    expect(await kept()).toHaveLength(1);
    expect(await readFile(copy, 'utf8')).toBe('# Notes\n');
  });

  it('may hold an empty file and one of exactly the size that is allowed', async () => {
    await writeFile(at('empty'), '');
    await writeFile(at('large'), Buffer.alloc(MAX_ATTACHMENT_BYTES, 'x'));
    await send([{ path: at('empty') }, { path: at('large') }]);
    expect((await messages())[0]?.attachments).toMatchObject([
      { bytes: 0, mediaType: 'text/plain' },
      { bytes: MAX_ATTACHMENT_BYTES },
    ]);
  });
});

describe('a message is refused, and nothing of it is kept, when a file', () => {
  /** How it was refused, and what is there afterwards. */
  const refusal = async (path: string): Promise<object> => {
    const { code, message, hint } = await refusalOf(send([{ path: at('notes.md') }, { path }]));
    return { code, message, hint, messages: await messages(), kept: await kept() };
  };
  const saying = (expected: RegExp): object => ({
    code: 'ATTACHMENT_INVALID',
    message: expect.stringMatching(expected) as string,
    hint: expect.any(String) as string,
    messages: [],
    kept: [],
  });

  it('is not there', async () => {
    expect(await refusal(at('nowhere'))).toEqual(saying(/could not read .*nowhere: ENOENT/));
  });

  it('is a folder', async () => {
    await mkdir(at('folder'));
    expect(await refusal(at('folder'))).toEqual(saying(/expected a file, .*folder is a folder/));
  });

  it('is a link', async () => {
    await symlink(at('notes.md'), at('link'));
    expect(await refusal(at('link'))).toEqual(saying(/link is a link/));
  });

  it('is a device', async () => {
    expect(await refusal('/dev/zero')).toEqual(saying(/is a device, a pipe or a socket/));
  });

  it.skipIf(process.platform === 'win32')('is a pipe that nobody writes to', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    expect(await refusal(at('pipe'))).toEqual(saying(/is a device, a pipe or a socket/));
  });

  it('is one byte too large', async () => {
    await writeFile(at('large'), Buffer.alloc(MAX_ATTACHMENT_BYTES + 1));
    expect(await refusal(at('large'))).toEqual(saying(/expected at most 33554432 bytes in .*large, it holds 33554433/));
  });
});

describe('attachments', () => {
  it.each([
    ['too many of them', Array.from({ length: 21 }, () => ({ path: 'x' })), /attachments: .*20/],
    ['one without a path', [{ path: '' }], /attachments\[0\]\.path/],
    [
      'a name that drives terminals',
      [{ path: 'x', name: 'a\u001B[2J' }],
      /attachments\[0\]\.name: expected printable text/,
    ],
    [
      'what is no media type',
      [{ path: 'x', mediaType: 'picture' }],
      /attachments\[0\]\.mediaType: expected a media type/,
    ],
  ])('are refused before anything is checked: %s', async (_, attachments, expected) => {
    const error = await refusalOf(send(attachments));
    expect(error).toMatchObject({
      code: 'SESSION_REQUEST_INVALID',
      message: expect.stringMatching(expected) as string,
    });
  });

  it('are not put where a link in the workspace leads', async () => {
    const outside = at('outside');
    await mkdir(outside);
    await mkdir(workspace, { recursive: true });
    await symlink(outside, join(workspace, '.wakechart-runtime'));
    const error = await refusalOf(send([{ path: at('notes.md') }]));
    expect(error).toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining('to be a folder, it is a link') as string,
    });
    expect(await readdir(outside)).toEqual([]);
    expect(await messages()).toEqual([]);
  });

  it('are not copied for a session that was terminated', async () => {
    await runtime.sessions.terminate(sessionId);
    expect(await refusalOf(send([{ path: at('notes.md') }]))).toMatchObject({ code: 'SESSION_TERMINATED' });
    expect(await kept()).toEqual([]);
  });

  it('come back in the order in which they were given, from the store itself', async () => {
    const store = createAttachmentFiles({ workspaceDirectory: () => Promise.resolve(home.path) });
    const names = await store.keep({ sessionId, agentId: 'reader' }, [
      { path: at('shot.txt') },
      { path: at('notes.md') },
    ]);
    expect(names.map(({ name }) => name)).toEqual(['shot.txt', 'notes.md']);
  });
});
