/**
 * The managed tools of the family `resources`: files that all sessions of an agent share. They are edited as copies,
 * and shared through the gate.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_SHOWN_CHARACTERS } from '../../machines/memory/memory-tool-definitions.ts';
import type { RestoreInput, VersionsInput } from '../../machines/memory/memory-tool-definitions.ts';
import {
  resourcesCompareDefinition,
  resourcesListDefinition,
  resourcesPromoteDefinition,
  resourcesReadDefinition,
  resourcesRestoreDefinition,
  resourcesStageDefinition,
  resourcesVersionsDefinition,
} from '../../machines/memory/resource-tool-definitions.ts';
import type {
  ResourcesCompareInput,
  ResourcesListInput,
  ResourcesPromoteInput,
  ResourcesReadInput,
  ResourcesStageInput,
} from '../../machines/memory/resource-tool-definitions.ts';
import { MEMORY_FILE } from '../../machines/memory/shared-file-path.ts';
import { STAGE_FOLDER } from '../../machines/stored-names.ts';
import { requirePromotion } from '../outcome/promotion-gate.ts';
import type { Tool, ToolContext } from '../turn/tool.ts';
import { stagedDifferences } from './staged-differences.ts';
import type { Stage, SharedFilesStage } from './shared-files-stage.ts';
import { stageDigest } from './shared-files-stage.ts';
import type { SharedFilesEdit, SharedFilesStore } from './shared-files-store.ts';
import { shownText, shownVersion, textOf, wakeOf } from './tool-parts.ts';

export interface ResourceToolPorts {
  readonly sharedFiles: SharedFilesStore;
  readonly stage: SharedFilesStage;
}

export function createResourceTools(ports: ResourceToolPorts): readonly Tool[] {
  return [
    listTool(ports),
    readTool(ports),
    versionsTool(ports),
    stageTool(ports),
    compareTool(ports),
    promoteTool(ports),
    restoreTool(ports),
  ];
}

function listTool({ sharedFiles }: ResourceToolPorts): Tool<ResourcesListInput> {
  return {
    definition: resourcesListDefinition,
    async run({ version }, { session: { agentId } }) {
      const at = version ?? (await sharedFiles.head(agentId)).version;
      const files = at === 0 ? [] : await sharedFiles.list(agentId, at);
      return { version: at, files: files.map(({ path, bytes }) => ({ path, bytes })) };
    },
  };
}

function readTool({ sharedFiles }: ResourceToolPorts): Tool<ResourcesReadInput> {
  return {
    definition: resourcesReadDefinition,
    async run({ path, version }, { session: { agentId } }) {
      const at = version ?? (await sharedFiles.head(agentId)).version;
      const content = at === 0 ? undefined : await sharedFiles.read(agentId, path, at);
      if (content === undefined) throw notShared(path, at);
      const text = textOf(content);
      if (text === undefined)
        throw new RuntimeError('RESOURCE_NOT_TEXT', `${path} is no UTF-8 text (${content.length} bytes)`, {
          category: 'validation',
          hint: `Use it where it lies: /workspace/agent/${path}.`,
        });
      return { path, version: at, ...shownText(text) };
    },
  };
}

function versionsTool({ sharedFiles }: ResourceToolPorts): Tool<VersionsInput> {
  return {
    definition: resourcesVersionsDefinition,
    async run({ before, limit }, { session: { agentId } }) {
      const { version: head } = await sharedFiles.head(agentId);
      return { head, versions: (await sharedFiles.versions(agentId, { before, limit })).map(shownVersion) };
    },
  };
}

function stageTool({ sharedFiles, stage }: ResourceToolPorts): Tool<ResourcesStageInput> {
  return {
    definition: resourcesStageDefinition,
    async run({ paths }, { session: { agentId }, workspaceDirectory }) {
      const head = await sharedFiles.head(agentId);
      const missing = paths?.find((path) => !head.files.some((file) => file.path === path));
      if (missing !== undefined) throw notShared(missing, head.version);
      const wanted = head.files.filter(({ path }) => path !== MEMORY_FILE && (paths?.includes(path) ?? true));
      if (paths?.includes(MEMORY_FILE) === true) throw notStaged();
      const files = await Promise.all(
        wanted.map(async ({ path }) => ({
          path,
          content: (await sharedFiles.read(agentId, path, head.version)) ?? new Uint8Array(0),
        })),
      );
      await stage.put(workspaceDirectory, head.version, files);
      return { folder: STAGE_FOLDER, version: head.version, paths: files.map(({ path }) => path) };
    },
  };
}

function compareTool({ sharedFiles, stage }: ResourceToolPorts): Tool<ResourcesCompareInput> {
  return {
    definition: resourcesCompareDefinition,
    async run({ paths }, { session: { agentId }, workspaceDirectory }) {
      const head = await sharedFiles.head(agentId);
      const staged = await stage.read(workspaceDirectory);
      const { files, diff } = await stagedDifferences({
        sharedFiles,
        agentId,
        head,
        staged,
        paths,
        maxCharacters: MAX_SHOWN_CHARACTERS,
      });
      return {
        version: head.version,
        ...(staged.origin === undefined ? {} : { stagedVersion: staged.origin.version }),
        files,
        diff,
      };
    },
  };
}

function promoteTool({ sharedFiles, stage }: ResourceToolPorts): Tool<ResourcesPromoteInput> {
  return {
    definition: resourcesPromoteDefinition,
    async run({ paths, expectedVersion, why }, context) {
      const wake = wakeOf(context);
      const { agentId, sessionId } = wake.state();
      requirePromotion(wake.state());
      const staged = await stage.read(context.workspaceDirectory);
      const changes = changesOf(staged, paths, context);
      const digest = await stageDigest(staged);
      const seen = await versionFor(sharedFiles, { agentId, paths: changes.map(({ path }) => path), expectedVersion });
      const permit = requirePromotion(wake.state());
      // What was just read is what is shared: nothing can come between.
      if (permit.stageDigest !== digest) throw notAsEvaluated(permit.stageDigest !== undefined);
      const result = await sharedFiles.promote(permit, {
        agentId,
        changes,
        expectedVersion: seen,
        why: why ?? `promoted by session ${sessionId}`,
      });
      if (result.isNew)
        await wake.append([
          {
            type: 'files.promoted',
            data: { version: result.version, expectedVersion: seen, paths: [...result.changed] },
          },
        ]);
      return { ...result, changed: [...result.changed] };
    },
  };
}

function restoreTool({ sharedFiles }: ResourceToolPorts): Tool<RestoreInput> {
  return {
    definition: resourcesRestoreDefinition,
    async run({ version, expectedVersion }, context) {
      const wake = wakeOf(context);
      const { agentId, sessionId } = wake.state();
      const result = await sharedFiles.restore(requirePromotion(wake.state()), {
        agentId,
        version,
        expectedVersion,
        why: `restored version ${version} for session ${sessionId}`,
      });
      if (result.isNew)
        await wake.append([
          {
            type: 'files.promoted',
            data: { version: result.version, expectedVersion, paths: [...result.changed] },
          },
        ]);
      return { ...result, changed: [...result.changed] };
    },
  };
}

/**
 * The head, where none of the paths has changed since the version that was seen: what else was shared meanwhile, such
 * as a learning in the memory, is no conflict for them. Else the version that was seen, which is refused.
 */
async function versionFor(
  sharedFiles: SharedFilesStore,
  {
    agentId,
    paths,
    expectedVersion,
  }: { readonly agentId: string; readonly paths: readonly string[]; readonly expectedVersion: number },
): Promise<number> {
  const { version, files } = await sharedFiles.head(agentId);
  if (version <= expectedVersion) return expectedVersion;
  const before = new Map(
    (expectedVersion === 0 ? [] : await sharedFiles.list(agentId, expectedVersion)).map(({ path, sha256 }) => [
      path,
      sha256,
    ]),
  );
  const now = new Map(files.map(({ path, sha256 }) => [path, sha256]));
  return paths.every((path) => before.get(path) === now.get(path)) ? version : expectedVersion;
}

/** @throws RuntimeError RESOURCE_NOT_STAGED, RESOURCE_HOLDS_SECRET */
function changesOf(
  { files, origin }: Stage,
  paths: readonly string[],
  { environment }: ToolContext,
): SharedFilesEdit['changes'][number][] {
  return paths.map((path) => {
    if (path === MEMORY_FILE) throw notStaged();
    const content = files.find((file) => file.path === path)?.content;
    if (content !== undefined) {
      if (holdsSecret(content, environment)) throw holdsSecretError(path);
      return { path, content };
    }
    if (origin?.paths.includes(path) === true) return { path, content: null };
    throw new RuntimeError('RESOURCE_NOT_STAGED', `there is no ${path} in ${STAGE_FOLDER}`, {
      category: 'not_found',
      hint:
        files.length === 0
          ? 'Stage files with resources_stage, or write new ones there.'
          : `Staged are: ${files
              .slice(0, 20)
              .map((file) => file.path)
              .join(', ')}.`,
    });
  });
}

function holdsSecret(content: Uint8Array, environment: ToolContext['environment']): boolean {
  const redaction = environment?.secrets.bytes();
  if (redaction === undefined) return false;
  const parts = [redaction.add(content), redaction.end()];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  let at = 0;
  return length !== content.length || parts.some((part) => part.some((byte) => byte !== content[at++]));
}

function notAsEvaluated(wasChecked: boolean): RuntimeError {
  const because = wasChecked
    ? `what lies in ${STAGE_FOLDER} is not what lay there when the outcome was evaluated`
    : `${STAGE_FOLDER} was not checked when the outcome was evaluated`;
  return new RuntimeError('PROMOTION_REFUSED', `${because}; nothing was shared`, {
    category: 'permission',
    hint: 'Leave nothing running that changes it, and evaluate the outcome again (outcome_evaluate).',
  });
}

function holdsSecretError(path: string): RuntimeError {
  return new RuntimeError('RESOURCE_HOLDS_SECRET', `${path} holds a secret of a vault; nothing was shared`, {
    category: 'permission',
    hint: 'Name the secret instead of writing it.',
  });
}

function notShared(path: string, version: number): RuntimeError {
  return new RuntimeError('RESOURCE_NOT_FOUND', `there is no ${path} in version ${version} of the shared files`, {
    category: 'not_found',
    hint: 'resources_list shows those that are there.',
  });
}

function notStaged(): RuntimeError {
  return new RuntimeError('RESOURCE_IS_MEMORY', `${MEMORY_FILE} is changed by memory_promote and by people only`, {
    category: 'permission',
    hint: 'Capture a learning with promoteToMemory, or write another file.',
  });
}
