import { createHash } from 'node:crypto';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptBlocks } from '../../../src/adapters/acp/prompt-blocks.ts';
import type { FilePart, ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

let home: TemporaryHome;
const at = (path: string): string => join(home.path, path);

beforeEach(async () => {
  home = await temporaryHome();
});

afterEach(() => home.remove());

const part = (path: string, bytes: Buffer, mediaType: string): FilePart => ({
  type: 'file',
  mediaType,
  name: path,
  path,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});
const message = (
  ...content: readonly (FilePart | { readonly type: 'text'; readonly text: string })[]
): ProviderMessage => ({ role: 'user', content });
const EVERYTHING = { image: true, embeddedContext: true };

async function fileBlocks(files: readonly FilePart[], takes = EVERYTHING): Promise<readonly unknown[]> {
  const blocks = await promptBlocks({
    instructions: undefined,
    messages: [message({ type: 'text', text: 'Check.' }, ...files)],
    workspaceDir: home.path,
    takes,
  });
  return blocks.slice(1);
}

describe('a file that came with a message', () => {
  const image = () => part('a.png', PNG, 'image/png');
  const uri = (name: string): string => pathToFileURL(at(name)).href;
  const link = (file: FilePart, more: object = {}): object => ({
    type: 'resource_link',
    uri: uri(file.path),
    name: file.name,
    mimeType: file.mediaType,
    size: file.bytes,
    ...more,
  });

  beforeEach(async () => {
    await writeFile(at('a.png'), PNG);
    await writeFile(at('a.txt'), 'Häuser');
  });

  it('is shown to an agent that takes such', async () => {
    const text = part('a.txt', Buffer.from('Häuser'), 'text/plain');
    expect(await fileBlocks([image(), text])).toEqual([
      { type: 'image', mimeType: 'image/png', data: PNG.toString('base64'), uri: uri('a.png') },
      { type: 'resource', resource: { uri: uri('a.txt'), mimeType: 'text/plain', text: 'Häuser' } },
    ]);
  });

  it('is named to an agent that takes none', async () => {
    expect(await fileBlocks([image()], { image: false, embeddedContext: true })).toEqual([link(image())]);
    expect(await fileBlocks([image()], { image: false, embeddedContext: false })).toEqual([link(image())]);
  });

  it('is only named when it has changed, is gone, too large, or leads out of the workspace', async () => {
    await symlink('/etc/passwd', at('link'));
    const changed = part('a.png', Buffer.from('other'), 'image/png');
    const gone = part('gone.png', PNG, 'image/png');
    const large = { ...image(), bytes: 6 * 1024 * 1024 };
    const away = part('link', PNG, 'image/png');
    expect(await fileBlocks([changed, gone, large, away])).toEqual([
      link(changed, { description: 'It has changed since it came.' }),
      link(gone, { description: expect.stringContaining('there is no') }),
      link(large),
      link(away, { description: expect.stringContaining('lies outside the workspace') }),
    ]);
  });

  it('of an earlier message is not shown again', async () => {
    const messages: readonly ProviderMessage[] = [
      message(image()),
      { role: 'assistant', content: [{ type: 'text', text: 'Seen.' }] },
      message({ type: 'text', text: 'And?' }),
    ];
    const blocks = await promptBlocks({
      instructions: 'Be brief.',
      messages,
      workspaceDir: home.path,
      takes: EVERYTHING,
    });
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'text']);
  });
});
