/** What pieces are named by. */
import { createHash } from 'node:crypto';

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
