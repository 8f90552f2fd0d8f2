/** Tells one content of a stage from another: what was there when an outcome was evaluated is what may be shared. */
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { Stage } from './shared-files-stage.ts';

/** SHA-256 as 64 hexadecimal digits, over every file and over what was staged before, which says what was taken out. */
export async function stageDigest({ files, origin }: Stage): Promise<string> {
  const contents = await Promise.all(files.map(async ({ path, content }) => [path, await sha256(content)]));
  return sha256(
    new TextEncoder().encode(canonicalJson([contents, origin === undefined ? null : origin.paths.toSorted()])),
  );
}

async function sha256(bytes: Uint8Array): Promise<string> {
  // A copy, since what is hashed may be a view of more than that.
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes)));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
