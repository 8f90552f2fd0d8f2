/** Serves an agent that reads and writes files through us. */
import type { ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest } from '@agentclientprotocol/sdk';
import { isUtf8 } from 'node:buffer';
import { RequestRefused } from './agent-link.ts';
import type { ServedCalls } from './served-calls.ts';
import { placeInWorkspace, readWorkspaceFile, writeWorkspaceFile } from './workspace-files.ts';

/** Of one file, read or written. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

export interface FileRequestsOptions {
  readonly served: ServedCalls;
  /** Absolute. */
  readonly workspaceDir: string;
}

export async function readTextFile(
  { path, line, limit }: ReadTextFileRequest,
  { served, workspaceDir }: FileRequestsOptions,
): Promise<ReadTextFileResponse> {
  const input = {
    path,
    ...(typeof line === 'number' ? { line } : {}),
    ...(typeof limit === 'number' ? { limit } : {}),
  };
  const prepare = () => placed(path, { workspaceDir, kind: 'read' });
  return served.serve({ name: 'fs/read_text_file', input, prepare }, async (place) => {
    await stillThere(path, { place, workspaceDir });
    const bytes = await readWorkspaceFile(place, MAX_FILE_BYTES);
    if (!isUtf8(bytes)) throw new RequestRefused('invalid', `${path} is no text in UTF-8`);
    const content = linesOf(bytes.toString('utf8'), line ?? 1, limit ?? undefined);
    return { result: { content }, shown: `${content.length} characters were read.` };
  });
}

export async function writeTextFile(
  { path, content }: WriteTextFileRequest,
  { served, workspaceDir }: FileRequestsOptions,
): Promise<object> {
  const prepare = async () => {
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_FILE_BYTES)
      throw new RequestRefused('invalid', `the content has ${bytes} bytes, and ${MAX_FILE_BYTES} are written at most`);
    return placed(path, { workspaceDir, kind: 'write' });
  };
  return served.serve({ name: 'fs/write_text_file', input: { path, content }, prepare }, async (place) => {
    await stillThere(path, { place, workspaceDir });
    await writeWorkspaceFile(place, Buffer.from(content));
    return { result: {}, shown: `${content.length} characters were written.` };
  });
}

async function placed(
  path: string,
  { workspaceDir, kind }: { readonly workspaceDir: string; readonly kind: 'read' | 'write' },
) {
  const { real, named } = await placeInWorkspace(path, workspaceDir);
  return { prepared: real, means: { kind, path: named } };
}

/** It may have taken long until it was allowed. */
async function stillThere(
  path: string,
  { place, workspaceDir }: { readonly place: string; readonly workspaceDir: string },
): Promise<void> {
  const { real } = await placeInWorkspace(path, workspaceDir);
  if (real !== place) throw new RequestRefused('failed', `${path} leads somewhere else now than when it was allowed`);
}

/** Lines `first` (from 1) on, `count` of them at most, with their ends as they are. */
function linesOf(text: string, first: number, count: number | undefined): string {
  if (first <= 1 && count === undefined) return text;
  const lines = text.split('\n');
  const start = Math.max(0, first - 1);
  const chosen = lines.slice(start, count === undefined ? undefined : start + count);
  const isCut = start + chosen.length < lines.length;
  return chosen.join('\n') + (isCut && chosen.length > 0 ? '\n' : '');
}
