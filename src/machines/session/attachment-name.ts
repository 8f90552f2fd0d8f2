/** What a file that came with a message is called and what kind of data it holds, from its name and how it begins. */
import { beginningOf } from '../cut-text.ts';
import { fileKindOf } from '../turn/files/file-kind.ts';

/** Bytes of one file: 32 MiB. */
export const MAX_ATTACHMENT_BYTES = 32 * 1024 * 1024;

export const MAX_ATTACHMENT_NAME_CHARACTERS = 200;

/** Of files that do not say by how they begin what they are. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  css: 'text/css',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  htm: 'text/html',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  toml: 'application/toml',
  ts: 'text/typescript',
  wav: 'audio/wav',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};

/** Archives whose names say more about them than how they begin. */
const CONTAINERS: ReadonlySet<string> = new Set(['application/zip', 'application/octet-stream']);

const EXTENSION = /[^.]\.(?<extension>[a-z0-9]{1,16})$/i;

export interface AttachmentKind {
  readonly kind: 'image' | 'file';
  readonly mediaType: string;
}

export interface JudgedFile {
  readonly name: string;
  /** Its beginning, 8 KiB or all of it. */
  readonly head: Uint8Array;
  /** What the sender says it is. That of an image is seen, and not believed. */
  readonly mediaType?: string | undefined;
}

export function attachmentKindOf({ name, head, mediaType }: JudgedFile): AttachmentKind {
  const seen = fileKindOf(head);
  if (seen.kind === 'image') return { kind: 'image', mediaType: seen.mediaType };
  if (mediaType !== undefined) return { kind: 'file', mediaType };
  const named = BY_EXTENSION[extensionOf(name)];
  if (seen.kind === 'text') return { kind: 'file', mediaType: named ?? 'text/plain' };
  return { kind: 'file', mediaType: CONTAINERS.has(seen.mediaType) ? (named ?? seen.mediaType) : seen.mediaType };
}

/** The name of the copy: the content says which, the ending what it is for those who check names. */
export function attachmentFileName(sha256: string, name: string): string {
  const extension = extensionOf(name);
  return extension === '' ? sha256 : `${sha256}.${extension}`;
}

/** `name` as people may be shown it: on one line, without what could drive a terminal, not too long. */
export function shownName(name: string): string {
  const shown = beginningOf(name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD'), MAX_ATTACHMENT_NAME_CHARACTERS);
  return shown === '' ? 'file' : shown;
}

/** Lower-case and without its dot; empty when there is none. */
function extensionOf(name: string): string {
  return EXTENSION.exec(name)?.groups?.['extension']?.toLowerCase() ?? '';
}
