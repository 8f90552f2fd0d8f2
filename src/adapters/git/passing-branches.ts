/** Branches that go when the worktrees go which they were made for: what only they have is not safe yet. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { namesIn } from '../system/whole-files.ts';
import { MARKER } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';

const markSchema = z.object({ branchName: z.string().min(1) });

/** Those of all worktrees of its repository, whichever home they belong to, but its own. */
export async function passingBranches(
  { records }: WorktreeContext,
  { id, commonDirectory, branchName }: WorktreeRecord,
): Promise<readonly string[]> {
  const others = (await records.list()).records.filter(
    (record) => record.id !== id && record.commonDirectory === commonDirectory,
  );
  const folder = join(commonDirectory, 'worktrees');
  const names = await namesIn(folder);
  const marked = await Promise.all(names.map(async (name) => markedBranch(join(folder, name, MARKER))));
  return [...new Set([...others.map((record) => record.branchName), ...marked.flatMap((name) => name ?? [])])].filter(
    (name) => name !== branchName,
  );
}

/** Undefined where none of ours has said whose it is. */
async function markedBranch(path: string): Promise<string | undefined> {
  try {
    return markSchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data?.branchName;
  } catch {
    return undefined;
  }
}
