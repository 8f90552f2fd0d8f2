/**
 * Images, sounds and files in what a tool answered: kept in the workspace, and given to the model by reference, as the
 * tool `read` gives images.
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { beginningOf } from '../../machines/cut-text.ts';
import { messageOf } from '../../machines/errors.ts';
import type { FileKind, ImageMediaType } from '../../machines/turn/files/file-kind.ts';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';

// Bytes that a server sends as base64 with a media type: neither is believed before it was checked.

/** Bytes of one file. Providers take no image that is larger, and a message of a server holds little more. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

const BASE64_BYTES = 3 / 4;

type Decoded =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  /** In words that end a sentence. */
  | { readonly kind: 'unusable'; readonly reason: string };

/** White space in it, as of lines that were broken, and missing padding do no harm. */
function decodeBase64(data: string): Decoded {
  const body = data.replaceAll(/[\r\n\t ]+/g, '').replace(/={1,2}$/, '');
  const bytes = Math.floor(body.length * BASE64_BYTES);
  if (bytes > MAX_FILE_BYTES)
    return { kind: 'unusable', reason: `${bytes} bytes are too many, ${MAX_FILE_BYTES} are kept at most` };
  // What is not in the alphabet is searched for: a pattern for the whole would need memory for each character.
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

interface BinaryKind {
  readonly kind: FileKind['kind'];
  readonly mediaType: string;
  /** For the name of a file; of our own words, whatever the server says. */
  readonly extension: string;
}

/** `claimed` says what kind of file it is only where the bytes do not: an image is seen, and not believed. */
function binaryKindOf(bytes: Uint8Array, claimed: string | undefined): BinaryKind {
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
function shownMediaType(claimed: string | undefined): string {
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

/** Files of one result: a model pays for each image, and a folder holds only so many. */
const MAX_FILES = 32;

/** Of what a server calls a file. */
const MAX_URI_CHARACTERS = 2_000;

/** Keeps a file. Resolves with its path from the workspace. */
export type KeepFile = (file: { readonly bytes: Uint8Array; readonly extension: string }) => Promise<string>;

/** What a block of a result holds. */
export interface SentFile {
  readonly type: 'image' | 'audio' | 'resource';
  /** As it came. */
  readonly data: string;
  readonly mediaType: string | undefined;
  readonly uri?: string | undefined;
}

export type FilePart = Readonly<Record<string, unknown>> & { readonly type: string };

export interface FileReferencesOptions {
  readonly redaction: SecretRedaction;
  /** Without it every file is left out. */
  readonly keep: KeepFile | undefined;
}

/** The files of one result. */
export class FileReferences {
  readonly #redaction: SecretRedaction;
  readonly #keep: KeepFile | undefined;
  #count = 0;

  constructor({ redaction, keep }: FileReferencesOptions) {
    this.#redaction = redaction;
    this.#keep = keep;
  }

  /**
   * `{ type, mediaType, path, bytes }` of a file that is kept, and `{ type, mediaType, leftOut }` of any other. Never
   * rejects.
   */
  async partOf(file: SentFile): Promise<FilePart> {
    if (this.#keep === undefined) return this.#leftOut(file, 'there is no workspace to keep it in');
    const decoded = decodeBase64(file.data);
    if (decoded.kind === 'unusable') return this.#leftOut(file, decoded.reason);
    if (this.#count >= MAX_FILES) return this.#leftOut(file, `${MAX_FILES} files of one result are kept at most`);
    const kind = binaryKindOf(decoded.bytes, this.#shown(file.mediaType));
    const bytes = this.#withoutSecrets(decoded.bytes, kind);
    if (bytes === undefined) return this.#leftOut(file, 'a secret of the agent file is in it');
    this.#count += 1;
    try {
      const path = await this.#keep({ bytes, extension: kind.extension });
      return { ...this.#described(file, kind), path, bytes: bytes.length };
    } catch (error) {
      return this.#leftOut(file, messageOf(error));
    }
  }

  /** Only what a model can be shown is an image to it, whatever the server says. */
  #described(file: SentFile, { kind, mediaType }: BinaryKind): FilePart {
    const uri = this.#uriOf(file);
    if (kind === 'image') return { type: 'image', mediaType, ...uri };
    if (file.type === 'image')
      return {
        type: 'binary',
        mediaType,
        note: 'The server calls this an image, but a model can be shown PNG, JPEG, GIF and WebP only.',
      };
    return { type: file.type, ...uri, mediaType };
  }

  #leftOut(file: SentFile, reason: string): FilePart {
    return {
      type: file.type,
      ...this.#uriOf(file),
      mediaType: shownMediaType(this.#shown(file.mediaType)),
      leftOut: this.#redaction.text(`This was left out: ${reason}.`),
    };
  }

  #uriOf({ uri }: SentFile): { readonly uri?: string } {
    return uri === undefined ? {} : { uri: beginningOf(this.#redaction.text(uri), MAX_URI_CHARACTERS) };
  }

  #shown(mediaType: string | undefined): string | undefined {
    return mediaType === undefined ? undefined : this.#redaction.text(mediaType);
  }

  /** Texts are read without them. Other files would be broken by that: undefined when there is one in it. */
  #withoutSecrets(bytes: Buffer, { kind }: BinaryKind): Buffer | undefined {
    if (this.#redaction.longest === 0) return bytes;
    const asText = kind === 'text' ? bytes.toString() : bytes.toString('latin1');
    const redacted = this.#redaction.text(asText);
    if (redacted === asText) return bytes;
    return kind === 'text' ? Buffer.from(redacted) : undefined;
  }
}
