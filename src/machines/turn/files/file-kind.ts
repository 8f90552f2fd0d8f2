/** What a file is, told from how it begins: an image, some other known kind of data, or text. */
import * as z from 'zod';

export type FileKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'image'; readonly mediaType: ImageMediaType }
  | { readonly kind: 'binary'; readonly mediaType: string };

export const imageMediaType = z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export type ImageMediaType = z.output<typeof imageMediaType>;

/** Bytes from the beginning of a text that are checked for a NUL. */
const FILE_KIND_BYTES = 8_192;

interface Signature {
  readonly mediaType: string;
  /** What stands where, as Latin-1 text. */
  readonly parts: readonly { readonly at: number; readonly text: string }[];
}

const starts = (text: string): Signature['parts'] => [{ at: 0, text }];

const IMAGES: readonly (Signature & { readonly mediaType: ImageMediaType })[] = [
  { mediaType: 'image/png', parts: starts('\x89PNG\r\n\x1a\n') },
  { mediaType: 'image/jpeg', parts: starts('\xff\xd8\xff') },
  { mediaType: 'image/gif', parts: starts('GIF87a') },
  { mediaType: 'image/gif', parts: starts('GIF89a') },
  { mediaType: 'image/webp', parts: [...starts('RIFF'), { at: 8, text: 'WEBP' }] },
];

const OTHERS: readonly Signature[] = [
  { mediaType: 'application/pdf', parts: starts('%PDF-') },
  { mediaType: 'application/zip', parts: starts('PK\x03\x04') },
  { mediaType: 'application/gzip', parts: starts('\x1f\x8b') },
  { mediaType: 'application/zstd', parts: starts('\x28\xb5\x2f\xfd') },
  { mediaType: 'application/x-xz', parts: starts('\xfd7zXZ\0') },
  { mediaType: 'application/x-elf', parts: starts('\x7fELF') },
  { mediaType: 'application/wasm', parts: starts('\0asm') },
  { mediaType: 'application/vnd.sqlite3', parts: starts('SQLite format 3\0') },
  { mediaType: 'text/plain; charset=utf-16le', parts: starts('\xff\xfe') },
  { mediaType: 'text/plain; charset=utf-16be', parts: starts('\xfe\xff') },
];

/** `head` is the beginning of the file: 8 KiB of it suffice. */
export function fileKindOf(head: Uint8Array): FileKind {
  const image = IMAGES.find((signature) => hasSignature(head, signature));
  if (image !== undefined) return { kind: 'image', mediaType: image.mediaType };
  const other = OTHERS.find((signature) => hasSignature(head, signature));
  if (other !== undefined) return { kind: 'binary', mediaType: other.mediaType };
  return head.subarray(0, FILE_KIND_BYTES).includes(0)
    ? { kind: 'binary', mediaType: 'application/octet-stream' }
    : { kind: 'text' };
}

function hasSignature(head: Uint8Array, { parts }: Signature): boolean {
  return parts.every(({ at, text }) =>
    Array.from(text).every((character, index) => head[at + index] === character.charCodeAt(0)),
  );
}
