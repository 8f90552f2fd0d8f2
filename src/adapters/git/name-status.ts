/** Reads which files git says have changed. Paths are bytes (see git-command.ts). */
import type { FolderDifference } from '../../actors/inspection/folder-changes.ts';

export interface NamedChange {
  readonly path: string;
  readonly change: FolderDifference['files'][number]['change'];
  /** Of what was renamed. */
  readonly before?: string | undefined;
}

const CHANGES: Readonly<Record<string, NamedChange['change']>> = {
  A: 'added',
  D: 'removed',
  M: 'changed',
  T: 'changed',
  U: 'changed',
  R: 'renamed',
  C: 'added',
};

/** Reads `git diff --name-status -z`. */
export function parseNames(output: string): readonly NamedChange[] {
  const fields = output.split('\0');
  const named: NamedChange[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const letter = (fields[at] ?? '').charAt(0);
    const hasTwo = letter === 'R' || letter === 'C';
    const [before, path = before] = hasTwo ? fields.slice(at + 1, at + 3) : fields.slice(at + 1, at + 2);
    at += hasTwo ? 3 : 2;
    named.push({ path: path ?? '', change: CHANGES[letter] ?? 'changed', ...(hasTwo ? { before } : {}) });
  }
  return named;
}
