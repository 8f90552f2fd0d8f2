/** Paths as the system takes them. */
import { Buffer } from 'node:buffer';
import { bytesOfName } from '../../machines/workspace-copy/file-names.ts';

/** Bytes where a name is no proper text. */
export type NativePath = string | Buffer;

export function nativePath(path: string): NativePath {
  const bytes = bytesOfName(path);
  return bytes === undefined ? path : Buffer.from(bytes);
}
