/** The managed tools about the files that all sessions of an agent share, as data. */
import * as z from 'zod';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import {
  promotedOutput,
  restoreInput,
  versionsInput,
  versionsOutput,
  wantsVersion,
} from './memory-tool-definitions.ts';
import type { RestoreInput, VersionsInput } from './memory-tool-definitions.ts';
import { sharedFilePath } from './shared-file-path.ts';
import { MAX_CHANGES, versionNumber } from './shared-files-version.ts';
import { STAGE_FOLDER } from '../stored-names.ts';

const managed = { ownership: 'managed', family: 'resources', destructive: false } as const;
const reading = { ...readsOnly, family: 'resources', effects: ['reads_files'] } as const;

const path = sharedFilePath.describe('From the folder of shared files, such as notes/testing.md.');
const paths = z.array(path).min(1).max(MAX_CHANGES);

const listInput = z.strictObject({ version: versionNumber.optional().describe('Default: as they are now.') });

export type ResourcesListInput = z.output<typeof listInput>;

export const resourcesListDefinition: ToolDefinition<ResourcesListInput> = {
  ...reading,
  name: 'resources_list',
  description:
    'Lists the files that all your sessions share, with their version. They are at /workspace/agent, for reading.',
  inputSchema: listInput,
  outputSchema: z.strictObject({
    version: z.number().int(),
    files: z.array(z.strictObject({ path: z.string(), bytes: z.number().int() })),
  }),
};

const readInput = z.strictObject({ path, version: versionNumber.optional().describe('Default: as it is now.') });

export type ResourcesReadInput = z.output<typeof readInput>;

export const resourcesReadDefinition: ToolDefinition<ResourcesReadInput> = {
  ...reading,
  name: 'resources_read',
  description: 'Reads a file that all your sessions share, as it is now or was in an older version.',
  inputSchema: readInput,
  outputSchema: z.strictObject({
    path: z.string(),
    version: z.number().int(),
    content: z.string(),
    isShortened: z.boolean(),
  }),
};

export const resourcesVersionsDefinition: ToolDefinition<VersionsInput> = {
  ...reading,
  name: 'resources_versions',
  description:
    'Lists the versions of the files that all your sessions share, the newest first: who made each, when, why, and what changed.',
  inputSchema: versionsInput,
  outputSchema: versionsOutput,
};

const stageInput = z.strictObject({
  paths: paths.optional().describe('Default: all. A file that is new is simply written there.'),
});

export type ResourcesStageInput = z.output<typeof stageInput>;

export const resourcesStageDefinition: ToolDefinition<ResourcesStageInput> = {
  ...managed,
  name: 'resources_stage',
  description: `Copies shared files into ${STAGE_FOLDER}/ of your workspace, where you can edit them. What is there of the same name is replaced.`,
  inputSchema: stageInput,
  outputSchema: z.strictObject({ folder: z.string(), version: z.number().int(), paths: z.array(z.string()) }),
  effects: ['reads_files', 'writes_files'],
  permissionPolicy: 'always_allow',
  readOnly: false,
  destructive: true,
  idempotent: true,
  interruptBehavior: 'finish',
};

const compareInput = z.strictObject({ paths: paths.optional().describe('Default: all that is staged.') });

export type ResourcesCompareInput = z.output<typeof compareInput>;

export const resourcesCompareDefinition: ToolDefinition<ResourcesCompareInput> = {
  ...reading,
  name: 'resources_compare',
  description: `Shows how the files in ${STAGE_FOLDER}/ differ from the shared ones as they are now, and the version to promote upon.`,
  inputSchema: compareInput,
  outputSchema: z.strictObject({
    version: z.number().int(),
    /** Of what was staged; absent when nothing was. */
    stagedVersion: z.number().int().optional(),
    files: z.array(z.strictObject({ path: z.string(), state: z.enum(['same', 'changed', 'added', 'removed']) })),
    diff: z.string(),
  }),
};

const promoteInput = z.strictObject({
  paths: paths.describe(
    'What is to be shared of what is staged. A path that was staged and is not there any more is taken out.',
  ),
  expectedVersion: wantsVersion,
  why: z.string().trim().min(1).max(300).optional().describe('For the reader of the list of versions.'),
});

export type ResourcesPromoteInput = z.output<typeof promoteInput>;

export const resourcesPromoteDefinition: ToolDefinition<ResourcesPromoteInput> = {
  ...managed,
  name: 'resources_promote',
  description: `Makes files of ${STAGE_FOLDER}/ those that all your sessions share, as a new version. It needs an outcome that was evaluated as reached, with nothing changed since; a person is asked. MEMORY.md is changed by memory_promote.`,
  inputSchema: promoteInput,
  outputSchema: promotedOutput,
  effects: ['promotes', 'writes_session', 'reads_files'],
  permissionPolicy: 'always_ask',
  readOnly: false,
  destructive: true,
  interruptBehavior: 'finish',
};

export const resourcesRestoreDefinition: ToolDefinition<RestoreInput> = {
  ...managed,
  name: 'resources_restore',
  description:
    'Makes all shared files, your memory too, those of an older version again, as a new version. It needs an outcome that was evaluated as reached; a person is asked.',
  inputSchema: restoreInput,
  outputSchema: promotedOutput,
  effects: ['promotes', 'writes_session'],
  permissionPolicy: 'always_ask',
  readOnly: false,
  destructive: true,
  interruptBehavior: 'finish',
};
