/** Reads a piece of a file. */
import type { FileHandle } from 'node:fs/promises';

/** From `position` on, as far as the file goes: a short read is no end of it. */
export async function bytesOf(file: Pick<FileHandle, 'read'>, length: number, position = 0): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
