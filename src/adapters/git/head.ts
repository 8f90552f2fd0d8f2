/** Where the HEAD of a worktree and its branch are. */
import { join } from 'node:path';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { shownPath } from './git-command.ts';
import { gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { readBytes } from './reflog.ts';
import { branchTip } from './undo-creation.ts';

/** Its commit, or `no commit`, and its branch unless it is detached. */
export async function headOf(
  context: WorktreeContext,
  record: WorktreeRecord,
): Promise<{ readonly head: string; readonly headBranch: string | undefined }> {
  const text = ((await readBytes(join(gitDirectoryOf(record), 'HEAD'))) ?? '').trim();
  const branch = /^ref: refs\/heads\/(?<branch>[\s\S]+)$/.exec(text)?.groups?.['branch'];
  const headBranch = branch === undefined ? undefined : shownPath(branch);
  if (headBranch === undefined) return { head: text, headBranch };
  const head =
    headBranch === record.branchName
      ? await tipOf(context, record)
      : await branchTip(context, { ...record, branchName: headBranch });
  return { head: head ?? 'no commit', headBranch };
}

/**
 * The commit of its own branch; undefined when that is gone. Read where git writes it; git is asked only where it is
 * elsewhere.
 */
export async function tipOf(context: WorktreeContext, record: WorktreeRecord): Promise<string | undefined> {
  const text = await readBytes(join(record.commonDirectory, 'refs', 'heads', ...record.branchName.split('/'))).catch(
    () => undefined,
  );
  const tip = text?.trim();
  return tip !== undefined && /^[\da-f]{40,64}$/.test(tip) ? tip : branchTip(context, record);
}
