/** Bytes that a server sends as base64 with a media type: neither is believed before it was looked at. */
import { Buffer, isUtf8 } from 'node:buffer';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import type { FileKind, ImageMediaType } from '../../machines/turn/files/file-kind.ts';

/** Bytes of one file. Providers take no image that is larger, and a message of a server holds little more. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

const BASE64_BYTES = 3 / 4;

export type Decoded =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** In words that end a sentence. */
  | { readonly kind: 'unusable'; readonly reason: string };

/** White space in it, as of lines that were broken, and missing padding do no harm. */
export function decodeBase64(data: string): Decoded {
  const body = data.replaceAll(/[\r\n\t ]+/g, '').replace(/={1,2}$/, '');
  const bytes = Math.floor(body.length * BASE64_BYTES);
  if (bytes > MAX_FILE_BYTES)
    return { kind: 'unusable', reason: `${bytes} bytes are too many, ${MAX_FILE_BYTES} are kept at most` };
  // What is not in the alphabet is looked for: a pattern for the whole would need memory for each character.
  if (/[^A-Za-z0-9+/]/.test(body) || body.length % 4 === 1)
    return { kind: 'unusable', reason: 'the data is not base64' };
  return body === ''
    ? { kind: 'unusable', reason: 'the data is empty' }
    : { kind: 'bytes', bytes: Buffer.from(body, 'base64') };
}

const MEDIA_TYPE = /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,80}$/i;
const NO_MEDIA_TYPE = 'application/octet-stream';

/** Types whose files say themselves what they are. */
const SEEN_TYPES: ReadonlySet<string> = new Set<ImageMediaType>(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export interface BinaryKind {
  readonly kind: FileKind['kind'];
  readonly mediaType: string;
  /** For the name of a file; of our own words, whatever the server says. */
  readonly extension: string;
}

/** `claimed` says what kind of file it is only where the bytes do not: an image is seen, and not believed. */
export function binaryKindOf(bytes: Uint8Array, claimed: string | undefined): BinaryKind {
  const seen = seenKindOf(bytes);
  const mediaType =
    seen.kind === 'image'
      ? seen.mediaType
      : (claimedType(claimed) ?? (seen.kind === 'text' ? 'text/plain' : seen.mediaType));
  return { kind: seen.kind, mediaType, extension: EXTENSIONS.get(mediaType) ?? 'bin' };
}

/** All of it is there, so that text can be told for certain. */
function seenKindOf(bytes: Uint8Array): FileKind {
  const seen = fileKindOf(bytes);
  return seen.kind === 'text' && !isUtf8(bytes) ? { kind: 'binary', mediaType: NO_MEDIA_TYPE } : seen;
}

/** A media type that may be repeated, without its parameters. */
export function shownMediaType(claimed: string | undefined): string {
  return plainType(claimed) ?? NO_MEDIA_TYPE;
}

function claimedType(claimed: string | undefined): string | undefined {
  const plain = plainType(claimed);
  return plain === undefined || plain === NO_MEDIA_TYPE || SEEN_TYPES.has(plain) ? undefined : plain;
}

function plainType(claimed = ''): string | undefined {
  const [essence = ''] = claimed.slice(0, 1_000).split(';', 1);
  const trimmed = essence.trim().toLowerCase();
  return MEDIA_TYPE.test(trimmed) ? trimmed : undefined;
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/svg+xml', 'svg'],
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
  ['audio/mp4', 'm4a'],
  ['audio/ogg', 'ogg'],
  ['audio/flac', 'flac'],
  ['video/mp4', 'mp4'],
  ['application/pdf', 'pdf'],
  ['application/zip', 'zip'],
  ['application/gzip', 'gz'],
  ['application/json', 'json'],
  ['application/xml', 'xml'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
]);
