/**
 * The ids of an imported session, made from what its source is: the same source gives the same ids, so that nothing is
 * brought over twice. The id of the first event says of which source it is and, in its second half, how that source was
 * when it was read.
 */
import { UUID_V7_RANDOM_BYTES, formatUuidV7, isUuidV7 } from '../ids.ts';

/** At least 16 bytes that are the same for the same text, and others for another. */
export type Digest = (text: string) => Uint8Array;

export interface SourceMark {
  /** Names the source, whatever is in it. */
  readonly source: string;
  /** Digest of what is in it. */
  readonly content: Uint8Array;
  /** When it began; 0 where it is unknown. */
  readonly createdAtMs: number;
}

const HALF = UUID_V7_RANDOM_BYTES / 2;

export function firstEventId({ source, content, createdAtMs }: SourceMark, digest: Digest): string {
  const random = Uint8Array.from([...digest(`source\n${source}`).slice(0, HALF), ...content.slice(0, HALF)]);
  return formatUuidV7({ unixMs: createdAtMs, counter: counterFrom(content, HALF), random });
}

/** Whether two first events came from one source, however that was when it was read. */
export function isOfSameSource(one: string, other: string): boolean {
  const marks = [one, other].map((id) => `${id.slice(0, 13)} ${id.slice(19, 28)}`);
  return isUuidV7(one) && isUuidV7(other) && marks[0] === marks[1];
}

/** The id of a session whose own cannot be kept. */
export function derivedSessionId(
  { source, createdAtMs }: Pick<SourceMark, 'source' | 'createdAtMs'>,
  digest: Digest,
): string {
  return idFrom(digest(`session\n${source}`), createdAtMs);
}

/** Gives each event of one session its id. */
export class EventIds {
  readonly #source: string;
  readonly #digest: Digest;
  readonly #used = new Set<string>();
  #count = 0;

  /** Ids that were not kept, by those that the source gave. */
  readonly renamed = new Map<string, string>();
  kept = 0;

  constructor(source: string, digest: Digest) {
    this.#source = source;
    this.#digest = digest;
  }

  /** Takes an id as it is. */
  take(id: string): string {
    this.#used.add(id);
    return id;
  }

  /** `own`, where that can be the id of an event and no other has it. */
  next(own: string | undefined, atMs: number): string {
    if (own !== undefined && isUuidV7(own) && !this.#used.has(own)) {
      this.kept += 1;
      return this.take(own);
    }
    const id = this.fresh(atMs);
    if (own !== undefined && !this.renamed.has(own)) this.renamed.set(own, id);
    return id;
  }

  fresh(atMs: number): string {
    for (;;) {
      this.#count += 1;
      const id = idFrom(this.#digest(`event\n${this.#source}\n${this.#count}`), atMs);
      if (!this.#used.has(id)) return this.take(id);
    }
  }
}

function idFrom(bytes: Uint8Array, unixMs: number): string {
  return formatUuidV7({
    unixMs,
    counter: counterFrom(bytes, UUID_V7_RANDOM_BYTES),
    random: bytes.slice(0, UUID_V7_RANDOM_BYTES),
  });
}

/** Twelve bits. */
function counterFrom(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) & 0xfff;
}
