/** `wakechart resources …`: the files that all sessions of an agent share, their versions, and going back to one. */
import { join } from 'node:path';
import { SHARED_FILES_FOLDER } from '../../machines/stored-names.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { tableLines } from '../terminal/table.ts';
import { listVersions, withMemory } from './stores.ts';
import { showDifference } from './shared-difference.ts';
import type { DifferenceOptions } from './shared-difference.ts';

export async function listResources(
  context: CommandContext,
  { agent, version }: { readonly agent: string; readonly version: number | undefined },
): Promise<number> {
  const { out, json } = context;
  const found = await withMemory(context, agent, async ({ sharedFiles }, agentId, layout) => {
    const at = version ?? (await sharedFiles.head(agentId)).version;
    return {
      agentId,
      version: at,
      folder: join(layout.agentDirectory(agentId), SHARED_FILES_FOLDER),
      files: at === 0 ? [] : await sharedFiles.list(agentId, at),
    };
  });
  if (json) await out.document(found);
  else {
    await out.line(out.styles.dim(`version ${found.version}, in ${found.folder}`));
    if (found.files.length === 0) await out.line('Nothing is shared yet.');
    else
      for (const line of tableLines(
        ['FILE', 'BYTES'],
        found.files.map(({ path, bytes }) => [path, String(bytes)]),
        out,
      ))
        await out.line(line);
  }
  return EXIT_SUCCESS;
}

export function listResourceVersions(context: CommandContext, agent: string): Promise<number> {
  return listVersions(context, agent, {
    none: (agentId) => `Nothing is shared by the sessions of agent ${agentId} yet.`,
  });
}

export function diffResources(context: CommandContext, options: Omit<DifferenceOptions, 'paths'>): Promise<number> {
  return showDifference(context, options);
}

export async function restoreResources(
  context: CommandContext,
  {
    agent,
    version,
    expectedVersion,
  }: { readonly agent: string; readonly version: number; readonly expectedVersion: number | undefined },
): Promise<number> {
  const { out, json } = context;
  const result = await withMemory(context, agent, async ({ sharedFiles }, agentId) => ({
    agentId,
    ...(await sharedFiles.people.restore({
      agentId,
      version,
      expectedVersion: expectedVersion ?? (await sharedFiles.head(agentId)).version,
      why: `restored version ${version}`,
    })),
  }));
  if (json) await out.document(result);
  else
    await out.line(
      result.isNew
        ? `${out.styles.green('Restored')} version ${version} as version ${result.version}`
        : `The files are those of version ${version} already.`,
    );
  return EXIT_SUCCESS;
}
