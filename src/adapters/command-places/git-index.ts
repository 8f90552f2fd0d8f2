/** Reads the list of files of a repository (`.git/index`, versions 2 to 4), as far as it names other repositories. */

const HEADER_BYTES = 12;
/** Times, device, owner and size, up to the name of the object; the mode is among them. */
const STAT_BYTES = 40;
const MODE_OFFSET = 24;
const KIND_MASK = 0o170000;
const REPOSITORY_KIND = 0o160000;
const HAS_MORE_FLAGS = 0x4000;

export interface GitIndex {
  /** Paths of repositories inside this one, from its top. */
  readonly repositories: readonly string[];
}

/** Undefined when it cannot be read, or has a part of its entries in another file. */
export function readGitIndex(bytes: Buffer, hashBytes: number): GitIndex | undefined {
  try {
    const { repositories, end } = readEntries(bytes, hashBytes);
    return isSplit(bytes, end, hashBytes) ? undefined : { repositories };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readEntries(
  bytes: Buffer,
  hashBytes: number,
): { readonly repositories: readonly string[]; readonly end: number } {
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4)
    throw new RangeError('no index of a known version');
  const repositories: string[] = [];
  let at = HEADER_BYTES;
  let previous = Buffer.alloc(0);
  for (let index = 0; index < count; index += 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    const isRepository = (bytes.readUInt32BE(at + MODE_OFFSET) & KIND_MASK) === REPOSITORY_KIND;
    const nameAt = flagsAt + ((bytes.readUInt16BE(flagsAt) & HAS_MORE_FLAGS) === 0 ? 2 : 4);
    const { name, end } = version === 4 ? readShortenedName(bytes, nameAt, previous) : readName(bytes, nameAt, at);
    if (isRepository) repositories.push(name.toString('utf8'));
    previous = name;
    at = end;
  }
  return { repositories, end: at };
}

interface ReadName {
  readonly name: Buffer<ArrayBuffer>;
  /** Where the next entry begins. */
  readonly end: number;
}

/** Entries are filled up with 1 to 8 zeros, to a multiple of 8 bytes. */
function readName(bytes: Buffer, from: number, entryAt: number): ReadName {
  const end = zeroAfter(bytes, from);
  return { name: Buffer.from(bytes.subarray(from, end)), end: entryAt + ((end - entryAt + 8) & ~7) };
}

/** How many bytes of the name before are left out, then what comes instead. */
function readShortenedName(bytes: Buffer, from: number, previous: Buffer): ReadName {
  let at = from;
  let byte = bytes.readUInt8(at);
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    byte = bytes.readUInt8(at);
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
  }
  if (dropped > previous.length) throw new RangeError('a name that begins before itself');
  const end = zeroAfter(bytes, at + 1);
  return {
    name: Buffer.concat([previous.subarray(0, previous.length - dropped), bytes.subarray(at + 1, end)]),
    end: end + 1,
  };
}

function zeroAfter(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(0, from);
  if (end === -1) throw new RangeError('a name without an end');
  return end;
}

/** After the entries come parts, each with a name and a size, and a checksum. */
function isSplit(bytes: Buffer, from: number, hashBytes: number): boolean {
  for (let at = from; at + 8 <= bytes.length - hashBytes; at += 8 + bytes.readUInt32BE(at + 4)) {
    if (bytes.toString('latin1', at, at + 4) === 'link') return true;
  }
  return false;
}
