/** How copies of shared files differ from what is shared now. */
import { unifiedDiff } from '../../machines/memory/unified-diff.ts';
import type { Stage } from './shared-files-stage.ts';
import type { SharedFilesHead, SharedFilesStore } from './shared-files-store.ts';
import { textOf } from './tool-parts.ts';

export interface StagedDifferencesOptions {
  readonly sharedFiles: Pick<SharedFilesStore, 'read'>;
  readonly agentId: string;
  readonly head: SharedFilesHead;
  readonly staged: Stage;
  /** Default: all that are staged or were. */
  readonly paths: readonly string[] | undefined;
  readonly maxCharacters: number;
}

export type FileState = 'same' | 'changed' | 'added' | 'removed';

export interface StagedDifferences {
  readonly files: readonly { readonly path: string; readonly state: FileState }[];
  readonly diff: string;
}

export async function stagedDifferences({
  sharedFiles,
  agentId,
  head,
  staged,
  paths,
  maxCharacters,
}: StagedDifferencesOptions): Promise<StagedDifferences> {
  const here = new Map(staged.files.map(({ path, content }) => [path, content]));
  const shared = new Set(head.files.map(({ path }) => path));
  // What was never staged was not taken out.
  const known = [
    ...new Set([...here.keys(), ...(staged.origin?.paths ?? []).filter((path) => shared.has(path))]),
  ].toSorted();
  const files: { path: string; state: FileState }[] = [];
  let diff = '';
  for (const path of known.filter((each) => paths?.includes(each) ?? true)) {
    const [before, after] = [
      shared.has(path) ? await sharedFiles.read(agentId, path, head.version) : undefined,
      here.get(path),
    ];
    const state = stateOf(before, after);
    files.push({ path, state });
    if (state !== 'same' && diff.length < maxCharacters)
      diff += differenceOf(path, before, after, maxCharacters - diff.length);
  }
  return { files, diff };
}

/** How one file differs, as text. */
export function differenceOf(
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
  maxCharacters: number,
): string {
  const texts = [before, after].map((bytes) => (bytes === undefined ? undefined : textOf(bytes)));
  const isBinary = (before !== undefined && texts[0] === undefined) || (after !== undefined && texts[1] === undefined);
  if (isBinary)
    return `Binary file ${path} differs: ${before?.length ?? 0} bytes before, ${after?.length ?? 0} after\n`;
  return unifiedDiff({ path, before: texts[0], after: texts[1], maxCharacters });
}

function stateOf(before: Uint8Array | undefined, after: Uint8Array | undefined): FileState {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  return before.length === after.length && before.every((byte, index) => byte === after[index]) ? 'same' : 'changed';
}
