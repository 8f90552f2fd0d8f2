/**
 * Files that a conversation refers to: shown to models that can see them, told in words otherwise, and never the reason
 * why a step fails.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FilePart, ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import { workspaceFiles } from '../../../src/adapters/embedded/workspace-files.ts';
import { answers } from '../../support/http-models/behaviors.ts';
import type { EmbeddedApi } from '../../support/http-models/protocol.ts';
import { APIS, EmbeddedSetup } from './embedded-setup.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PDF = Buffer.from('%PDF-1.4\n1 0 obj\n');
const BASE64 = PNG.toString('base64');

let setup: EmbeddedSetup;

beforeEach(async () => {
  setup = await EmbeddedSetup.open();
});

afterEach(() => setup.close());

async function file(path: string, bytes: Buffer, mediaType = 'application/octet-stream'): Promise<FilePart> {
  await mkdir(join(setup.workspaceDir, 'in'), { recursive: true });
  await writeFile(join(setup.workspaceDir, path), bytes);
  return {
    type: 'file',
    mediaType,
    name: path.split('/').at(-1) ?? path,
    path,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

async function asked(
  api: EmbeddedApi,
  messages: readonly ProviderMessage[],
  settings: Partial<ProviderSettings> = {},
): Promise<string> {
  const { meta } = await setup.ask(api, answers([{ text: 'Yes.' }]), { messages, settings }).result;
  expect(meta?.error).toBeUndefined();
  return setup.server.request.text;
}

const sent = (...content: readonly FilePart[]): readonly ProviderMessage[] => [
  { role: 'user', content: [{ type: 'text', text: 'Check:' }, ...content] },
];

const read = (output: unknown, outcome: 'completed' | 'failed' = 'completed'): readonly ProviderMessage[] => [
  { role: 'user', content: [{ type: 'text', text: 'Check.' }] },
  { role: 'assistant', content: [{ type: 'tool_call', callId: 'call_1', name: 'read', input: {} }] },
  { role: 'tool', content: [{ type: 'tool_result', callId: 'call_1', name: 'read', outcome, output }] },
];

describe.each(APIS)('a file that came with a message to a model over %s', (api) => {
  it('is shown when it is an image, as what it is and not as what it is called', async () => {
    const body = await asked(api, sent(await file('in/a.jpg', PNG, 'image/jpeg')));
    expect(body).toContain(BASE64);
    expect(body).toContain('image/png');
    expect(body).not.toContain('image/jpeg');
  });

  it('is part of the text when it is text', async () => {
    expect(await asked(api, sent(await file('in/notes.csv', Buffer.from('a;ü\n1;2'), 'text/csv')))).toContain(
      String.raw`[The file notes.csv:]\na;ü\n1;2`,
    );
  });

  it('is told of when it is something else', async () => {
    expect(await asked(api, sent(await file('in/a.zip', Buffer.from('PK\u0003\u0004'), 'application/zip')))).toContain(
      '[The file a.zip (in/a.zip in the workspace) is not shown: models of this provider are not shown files of the type application/zip.]',
    );
  });

  it('is told of when it is gone, has changed, is too large or lies elsewhere', async () => {
    const gone = await file('in/gone.png', PNG, 'image/png');
    await rm(join(setup.workspaceDir, 'in/gone.png'));
    const changed = await file('in/changed.png', PNG, 'image/png');
    await writeFile(join(setup.workspaceDir, 'in/changed.png'), Buffer.concat([PNG, PNG]));
    const large = await file('in/large.png', Buffer.concat([PNG, Buffer.alloc(21_000_000)]), 'image/png');
    const outside = { ...gone, name: 'passwd', path: '../../../../../../../../etc/passwd' };
    const body = await asked(api, sent(gone, changed, large, outside));
    expect(body).toContain('gone.png (in/gone.png in the workspace) is not shown: it is not there any more.');
    expect(body).toContain('is not shown: it has changed since it came.');
    expect(body).toMatch(/is not shown: it has 210000\d\d bytes, and images of \d+ are taken at most/);
    expect(body).toContain('is not shown: it lies outside the workspace.');
  });

  it('of many that are too much together, the newest are shown', async () => {
    const size = 3_700_000;
    const files = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7].map((number) =>
        file(`in/${number}.png`, Buffer.concat([PNG, Buffer.alloc(size, number)]), 'image/png'),
      ),
    );
    const body = await asked(api, sent(...files));
    expect(body.match(/is not shown: the files after it fill the request/g)).toHaveLength(1);
    expect(body).toContain('1.png (in/1.png');
    expect(body).not.toContain('7.png (in/7.png');
  });
});

describe('a PDF', () => {
  it('is shown by those that take it, and told of by those that may not', async () => {
    const messages = sent(await file('in/paper.pdf', PDF, 'application/pdf'));
    for (const api of ['anthropic', 'openai'] as const)
      expect(await asked(api, messages)).toContain(PDF.toString('base64'));
    expect(await asked('openai-chat', messages)).toContain('paper.pdf (in/paper.pdf in the workspace) is not shown');
    expect(await asked('openai-chat', messages, { reads: ['image', 'pdf'] })).toContain(PDF.toString('base64'));
  });

  it('and an image are told of where the provider is set up to be shown none', async () => {
    const body = await asked('openai', sent(await file('in/paper.pdf', PDF), await file('in/a.png', PNG)), {
      reads: [],
    });
    expect(body.match(/is not shown/g)).toHaveLength(2);
  });
});

describe('an image in the result of a tool', () => {
  const reference = { type: 'image', mediaType: 'image/png', path: 'shot.png' };

  it('is part of the result for Anthropic and the Responses interface', async () => {
    await file('shot.png', PNG);
    await asked('anthropic', read({ text: 'A shot.', images: [reference] }));
    expect(setup.server.request.body['messages']).toMatchObject([
      {},
      {},
      {
        content: [
          {
            type: 'tool_result',
            content: [{ type: 'text' }, { type: 'image', source: { media_type: 'image/png', data: BASE64 } }],
          },
        ],
      },
    ]);
    await asked('openai', read(reference));
    expect(setup.server.request.body['input']).toMatchObject([
      {},
      {},
      {
        type: 'function_call_output',
        output: [{ type: 'input_text' }, { type: 'input_image', image_url: `data:image/png;base64,${BASE64}` }],
      },
    ]);
  });

  it('follows the results in a message of its own for Chat Completions, which has no images in results', async () => {
    await file('shot.png', PNG);
    await asked('openai-chat', read([reference, reference]));
    expect(setup.server.request.body['messages']).toMatchObject([
      {},
      {},
      { role: 'tool', tool_call_id: 'call_1', content: expect.not.stringContaining(BASE64) },
      {
        role: 'user',
        content: [
          { type: 'text' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } },
          { type: 'image_url' },
        ],
      },
    ]);
  });

  it.each(APIS)('that is gone is told of over %s', async (api) => {
    expect(await asked(api, read(reference))).toContain('[The file shot.png is not shown: it is not there any more.]');
  });

  it.each(APIS)('that is no image is not shown over %s, whatever the result says it is', async (api) => {
    await file('.env', Buffer.from('PASSWORD=hunter2hunter2'));
    await file('a.pdf', Buffer.from('%PDF-1.7 hunter2hunter2'));
    const body = await asked(
      api,
      read({
        images: [
          { ...reference, path: '.env' },
          { ...reference, path: 'a.pdf' },
        ],
      }),
    );
    expect([
      body.includes('hunter2'),
      body.includes(Buffer.from('%PDF-1.7 hunter2hunter2').toString('base64')),
      body.includes('is not shown: it is no image'),
    ]).toEqual([false, false, true]);
  });

  it('of a call that failed is not checked', async () => {
    await file('shot.png', PNG);
    expect(await asked('anthropic', read({ images: [reference] }, 'failed'))).not.toContain(BASE64);
  });
});

describe('the files of a workspace', () => {
  const check = (path: string, maxBytes = 100): ReturnType<typeof workspaceFiles.read> =>
    workspaceFiles.read({ workspaceDir: setup.workspaceDir, path, maxBytes });

  it('are read', async () => {
    await file('in/a.txt', Buffer.from('äb'));
    expect(await check('in/a.txt')).toEqual({ kind: 'bytes', bytes: Buffer.from('äb') });
    await symlink('in/a.txt', join(setup.workspaceDir, 'inner-link'));
    expect(await check('inner-link')).toMatchObject({ kind: 'bytes' });
  });

  it.each([
    ['/etc/passwd', 'it lies outside the workspace'],
    ['../', 'it lies outside the workspace'],
    ['.', 'it lies outside the workspace'],
    ['outer-link', 'it lies outside the workspace'],
    ['folder', 'it is no file'],
    ['nothing/at/all', 'it is not there any more'],
    ['large.txt/below', 'it is not there any more'],
    ['large.txt', 'it has 101 bytes, and 100 are shown at most'],
    ['a\0b', expect.stringContaining('it cannot be read')],
  ])('are not read at %j', async (path, reason) => {
    await symlink('/etc/passwd', join(setup.workspaceDir, 'outer-link'));
    await mkdir(join(setup.workspaceDir, 'folder'));
    await writeFile(join(setup.workspaceDir, 'large.txt'), 'x'.repeat(101));
    expect(await check(path)).toEqual({ kind: 'unusable', reason });
  });
});
