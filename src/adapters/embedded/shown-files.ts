/**
 * What a model is shown of the files that a conversation refers to: the newest first, until a request would become too
 * large.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { beginningOf } from '../../machines/cut-text.ts';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import { imageReferencesIn } from '../../machines/turn/provider-message.ts';
import type { FilePart, ImageReference, ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { HttpInterface } from './load-models.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

/** Bytes of all files of a request: what providers take is 32 MB at least, and in base64 they are a third larger. */
const MAX_BYTES_OF_REQUEST = 22 * 1024 * 1024;

/**
 * Bytes of one image as it lies there. A refused request would be refused again and again, as long as the image is in
 * the conversation.
 */
const MAX_IMAGE_BYTES: Readonly<Record<HttpInterface, number>> = {
  anthropic: 3_750_000,
  openai: 20_000_000,
  'openai-chat': 15_000_000,
};

/** Characters of a text file. */
const MAX_TEXT_CHARACTERS = 200_000;

export type FileSort = 'image' | 'pdf';

export type ShownFile =
  | { readonly kind: 'media'; readonly mediaType: string; readonly base64: string; readonly name: string }
  /** Its text, or why it is not shown. */
  | { readonly kind: 'text'; readonly text: string };

export interface ShownFilesOptions {
  readonly files: WorkspaceFiles;
  readonly workspaceDir: string;
  readonly api: HttpInterface;
  /** What the models of the provider can be shown. */
  readonly reads: readonly FileSort[];
}

type FileReference = FilePart | ImageReference;

/** By reference, for as long as a request is made. */
export class ShownFiles {
  readonly #shown: ReadonlyMap<FileReference, ShownFile>;

  private constructor(shown: ReadonlyMap<FileReference, ShownFile>) {
    this.#shown = shown;
  }

  static async load(messages: readonly ProviderMessage[], options: ShownFilesOptions): Promise<ShownFiles> {
    const shown = new Map<FileReference, ShownFile>();
    let room = MAX_BYTES_OF_REQUEST;
    for (const reference of referencesIn(messages).reverse()) {
      const file = await check(reference, room, options);
      shown.set(reference, file.shown);
      room -= file.bytes;
    }
    return new ShownFiles(shown);
  }

  of(reference: FileReference): ShownFile {
    return this.#shown.get(reference) ?? notShown(reference, 'it was not checked');
  }
}

function referencesIn(messages: readonly ProviderMessage[]): FileReference[] {
  return messages.flatMap(({ role, content }): readonly FileReference[] => {
    if (role === 'user') return content.filter((part) => part.type === 'file');
    return role === 'tool'
      ? content.flatMap(({ outcome, output }) => (outcome === 'completed' ? imageReferencesIn(output) : []))
      : [];
  });
}

async function check(
  reference: FileReference,
  room: number,
  { files, workspaceDir, api, reads }: ShownFilesOptions,
): Promise<{ readonly shown: ShownFile; readonly bytes: number }> {
  const without = (reason: string): { readonly shown: ShownFile; readonly bytes: number } => ({
    shown: notShown(reference, reason),
    bytes: 0,
  });
  const reading = await files.read({ workspaceDir, path: reference.path, maxBytes: MAX_BYTES_OF_REQUEST });
  if (reading.kind === 'unusable') return without(reading.reason);
  const { bytes } = reading;
  if (reference.type === 'file' && createHash('sha256').update(bytes).digest('hex') !== reference.sha256)
    return without('it has changed since it came');
  if (bytes.length > room) return without('the files after it fill the request');
  const { kind, ...told } = fileKindOf(bytes);
  // A reference stands in what some tool has put out: it shows what it says, and nothing else.
  if (reference.type === 'image' && kind !== 'image') return without('it is no image');
  if (kind === 'text' && isUtf8(bytes))
    return { shown: { kind: 'text', text: textOf(reference, bytes) }, bytes: bytes.length };
  const mediaType = 'mediaType' in told ? told.mediaType : reference.mediaType;
  const sort = kind === 'image' ? 'image' : mediaType === 'application/pdf' ? 'pdf' : undefined;
  if (sort === undefined || !reads.includes(sort))
    return without(`models of this provider are not shown files of the type ${mediaType}`);
  if (sort === 'image' && bytes.length > MAX_IMAGE_BYTES[api])
    return without(`it has ${bytes.length} bytes, and images of ${MAX_IMAGE_BYTES[api]} are taken at most`);
  return {
    shown: { kind: 'media', mediaType, base64: bytes.toString('base64'), name: nameOf(reference) },
    bytes: bytes.length,
  };
}

function textOf(reference: FileReference, bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (text.trim() === '') return `[The file ${nameOf(reference)} is empty.]`;
  const shown =
    text.length <= MAX_TEXT_CHARACTERS
      ? text
      : `${beginningOf(text, MAX_TEXT_CHARACTERS)}\n[cut; the whole file is ${reference.path} in the workspace]`;
  return `[The file ${nameOf(reference)}:]\n${shown}`;
}

function notShown(reference: FileReference, reason: string): ShownFile {
  const where = nameOf(reference) === reference.path ? '' : ` (${reference.path} in the workspace)`;
  return { kind: 'text', text: `[The file ${nameOf(reference)}${where} is not shown: ${reason}.]` };
}

function nameOf(reference: FileReference): string {
  return reference.type === 'file' ? reference.name : reference.path;
}
