/**
 * What an agent is asked: the instructions, the conversation as far as it does not know it, and the files of the newest
 * messages.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../machines/errors.ts';
import { promptOf } from '../../machines/run/conversation-text.ts';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import type { FilePart, ProviderMessage } from '../../machines/turn/provider-message.ts';
import { placeInWorkspace, readWorkspaceFile } from './workspace-files.ts';

/** Of one file that is given whole, and of all of one prompt together. Larger ones are named only. */
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_BYTES = 10 * 1024 * 1024;

export interface PromptOptions {
  readonly instructions: string | undefined;
  readonly messages: readonly ProviderMessage[];
  /** Absolute. */
  readonly workspaceDir: string;
  /** What the agent takes besides texts and links. */
  readonly takes: { readonly image: boolean; readonly embeddedContext: boolean };
}

export async function promptBlocks({
  instructions,
  messages,
  workspaceDir,
  takes,
}: PromptOptions): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  // Told each time: they may have changed since the agent heard them last.
  if (instructions !== undefined && instructions.trim() !== '')
    blocks.push({ type: 'text', text: `<instructions>\n${instructions}\n</instructions>` });
  blocks.push({ type: 'text', text: promptOf(messages) });
  let room = MAX_BYTES;
  for (const file of newestFiles(messages)) {
    const { block, bytes } = await fileBlock(file, { workspaceDir, takes, room });
    blocks.push(block);
    room -= bytes;
  }
  return blocks;
}

function newestFiles(messages: readonly ProviderMessage[]): readonly FilePart[] {
  const newest = messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
  return newest.flatMap((message) =>
    message.role === 'user' ? message.content.filter((part) => part.type === 'file') : [],
  );
}

interface FileSurroundings extends Pick<PromptOptions, 'workspaceDir' | 'takes'> {
  readonly room: number;
}

async function fileBlock(
  file: FilePart,
  { workspaceDir, takes, room }: FileSurroundings,
): Promise<{ readonly block: ContentBlock; readonly bytes: number }> {
  const uri = pathToFileURL(resolve(workspaceDir, file.path)).href;
  const link = (description?: string): { readonly block: ContentBlock; readonly bytes: number } => ({
    block: {
      type: 'resource_link',
      uri,
      name: file.name,
      mimeType: file.mediaType,
      size: file.bytes,
      ...(description === undefined ? {} : { description }),
    },
    bytes: 0,
  });
  if ((!takes.image && !takes.embeddedContext) || file.bytes > Math.min(MAX_FILE_BYTES, room)) return link();
  let bytes: Buffer;
  try {
    const { real } = await placeInWorkspace(resolve(workspaceDir, file.path), workspaceDir);
    bytes = await readWorkspaceFile(real, Math.min(MAX_FILE_BYTES, room));
  } catch (error) {
    return link(`It cannot be shown here: ${messageOf(error)}.`);
  }
  if (createHash('sha256').update(bytes).digest('hex') !== file.sha256) return link('It has changed since it came.');
  return { block: contentBlock(file, { bytes, uri, takes }) ?? link().block, bytes: bytes.length };
}

function contentBlock(
  { mediaType }: FilePart,
  { bytes, uri, takes }: { readonly bytes: Buffer; readonly uri: string; readonly takes: PromptOptions['takes'] },
): ContentBlock | undefined {
  const kind = fileKindOf(bytes);
  if (kind.kind === 'image')
    return takes.image ? { type: 'image', mimeType: kind.mediaType, data: bytes.toString('base64'), uri } : undefined;
  if (!takes.embeddedContext) return undefined;
  if (kind.kind === 'text' && isUtf8(bytes))
    return { type: 'resource', resource: { uri, mimeType: mediaType, text: bytes.toString('utf8') } };
  return {
    type: 'resource',
    resource: { uri, mimeType: kind.kind === 'binary' ? kind.mediaType : mediaType, blob: bytes.toString('base64') },
  };
}
