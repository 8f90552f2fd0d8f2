/**
 * Images, sounds and files in what a tool answered: kept in the workspace, and given to the model by reference, as the
 * tool `read` gives images.
 */
import { Buffer } from 'node:buffer';
import { beginningOf } from '../../machines/cut-text.ts';
import { messageOf } from '../../machines/errors.ts';
import { binaryKindOf, decodeBase64, shownMediaType } from './binary-data.ts';
import type { BinaryKind } from './binary-data.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';

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
