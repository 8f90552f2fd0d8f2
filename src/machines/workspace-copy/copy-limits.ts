/** How much a workspace copy may hold. */
import { RuntimeError } from '../errors.ts';
import type { WorkspaceCopyMeasure } from './copy-manifest.ts';

export interface WorkspaceCopyLimits {
  /** Files, folders and links. */
  readonly maxFiles: number;
  /** Of the contents of files. */
  readonly maxBytes: number;
}

export const DEFAULT_COPY_LIMITS: WorkspaceCopyLimits = { maxFiles: 200_000, maxBytes: 2_147_483_648 };

/** @throws RuntimeError WORKSPACE_COPY_TOO_LARGE */
export function checkCopyLimits(
  { files, bytes }: WorkspaceCopyMeasure,
  { maxFiles, maxBytes }: WorkspaceCopyLimits,
): void {
  if (files > maxFiles)
    throw tooLarge(`expected at most ${maxFiles} files and folders, received ${files} and more`, { files, maxFiles });
  if (bytes > maxBytes)
    throw tooLarge(`expected at most ${maxBytes} bytes, received ${bytes} and more`, { bytes, maxBytes });
}

function tooLarge(what: string, details: Readonly<Record<string, number>>): RuntimeError {
  return new RuntimeError('WORKSPACE_COPY_TOO_LARGE', `the folder of the session is too large for a copy: ${what}`, {
    category: 'capacity',
    hint: 'Remove from it what can be made again, such as packages and builds; until then the session stays on its machine. An environment bounds workspaces by its quota.',
    details,
  });
}
