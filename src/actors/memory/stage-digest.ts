/** Tells one content of a stage from another: what was there when an outcome was evaluated is what may be shared. */
import { canonicalJson } from '../../machines/canonical-json.ts';
import { sha256Hex } from '../sha256.ts';
import type { Stage } from './shared-files-stage.ts';

/** SHA-256 as 64 hexadecimal digits, over every file and over what was staged before, which says what was taken out. */
export async function stageDigest({ files, origin }: Stage): Promise<string> {
  const contents = await Promise.all(files.map(async ({ path, content }) => [path, await sha256Hex(content)]));
  return sha256Hex(canonicalJson([contents, origin === undefined ? null : origin.paths.toSorted()]));
}
