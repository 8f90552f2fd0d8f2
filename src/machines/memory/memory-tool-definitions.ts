/** The managed tools about memory and learnings as data. */
import * as z from 'zod';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { learningKind } from './memory-entry.ts';
import { newLearning } from './learning.ts';
import { expectedVersion } from './shared-files-requests.ts';
import { versionNumber } from './shared-files-version.ts';

/** Characters of a shared file or a difference that a model is given at once. */
export const MAX_SHOWN_CHARACTERS = 40_000;

/** Learnings that a session may capture in one wake, besides those of directives. */
export const MAX_CAPTURES_PER_WAKE = 10;

const learningIdInput = z.string().min(1).max(200);

const managed = { ownership: 'managed', family: 'memory', destructive: false } as const;
const reading = { ...readsOnly, family: 'memory', effects: ['reads_files'] } as const;

const versionOutput = z.strictObject({
  version: z.number().int(),
  at: z.string(),
  by: z.string(),
  why: z.string(),
  changed: z.array(z.string()),
});

export const versionsOutput = z.strictObject({ head: z.number().int(), versions: z.array(versionOutput) });

export const versionsInput = z.strictObject({
  before: versionNumber.optional().describe('Only versions older than this one.'),
  limit: z.number().int().min(1).max(100).default(20),
});

export const promotedOutput = z.strictObject({
  version: z.number().int(),
  isNew: z.boolean(),
  changed: z.array(z.string()),
});

export const wantsVersion = expectedVersion.describe(
  'The version that is there now, as you have read it. When it has moved on, nothing is changed.',
);

const memoryReadInput = z.strictObject({ version: versionNumber.optional().describe('Default: as it is now.') });

export type MemoryReadInput = z.output<typeof memoryReadInput>;

export const memoryReadDefinition: ToolDefinition<MemoryReadInput> = {
  ...reading,
  name: 'memory_read',
  description:
    'Reads your memory: MEMORY.md with what was promoted of your learnings, and its version. It is shared by all your sessions.',
  inputSchema: memoryReadInput,
  outputSchema: z.strictObject({
    version: z.number().int(),
    content: z.string(),
    isShortened: z.boolean(),
    entries: z.array(z.strictObject({ learningId: z.string(), at: z.string(), kind: learningKind, title: z.string() })),
    problem: z.string().optional(),
  }),
};

export type VersionsInput = z.output<typeof versionsInput>;

export const memoryVersionsDefinition: ToolDefinition<VersionsInput> = {
  ...reading,
  name: 'memory_list_versions',
  description: 'Lists the versions of your memory, the newest first: those in which MEMORY.md changed.',
  inputSchema: versionsInput,
  outputSchema: versionsOutput,
};

const promoteInput = z.strictObject({
  learningIds: z.array(learningIdInput).min(1).max(100).describe('Learnings of this session.'),
  expectedVersion: wantsVersion,
});

export type MemoryPromoteInput = z.output<typeof promoteInput>;

export const memoryPromoteDefinition: ToolDefinition<MemoryPromoteInput> = {
  ...managed,
  name: 'memory_promote',
  description:
    'Puts learnings of this session into the memory of all your sessions. It needs an outcome that was evaluated as reached, with nothing changed since.',
  inputSchema: promoteInput,
  outputSchema: promotedOutput,
  effects: ['promotes', 'writes_session'],
  permissionPolicy: 'always_allow',
  readOnly: false,
  idempotent: true,
  interruptBehavior: 'finish',
};

export const restoreInput = z.strictObject({
  version: versionNumber.describe('What to go back to.'),
  expectedVersion: wantsVersion,
});

export type RestoreInput = z.output<typeof restoreInput>;

export const memoryRestoreDefinition: ToolDefinition<RestoreInput> = {
  ...managed,
  name: 'memory_restore',
  description:
    'Makes the entries of your memory those of an older version again, as a new version. What people wrote around them stays. It needs an outcome that was evaluated as reached.',
  inputSchema: restoreInput,
  outputSchema: promotedOutput,
  effects: ['promotes', 'writes_session'],
  permissionPolicy: 'always_ask',
  readOnly: false,
  destructive: true,
  interruptBehavior: 'finish',
};

const learningOutput = z.strictObject({
  learningId: z.string(),
  kind: learningKind,
  title: z.string(),
  detail: z.string().optional(),
  count: z.number().int(),
  at: z.string(),
  lastSeenAt: z.string(),
  sessionId: z.string(),
  seq: z.number().int(),
});

const listInput = z.strictObject({
  kind: learningKind.optional(),
  text: z.string().min(1).max(200).optional().describe('Only those in which all of these words are.'),
  limit: z.number().int().min(1).max(100).default(30),
});

export type LearningListInput = z.output<typeof listInput>;

export const learningListDefinition: ToolDefinition<LearningListInput> = {
  ...reading,
  name: 'learning_list',
  description:
    'Lists what you have learned in all your sessions, the newest first. They are notes: check the session and event that they come from before you rely on one.',
  inputSchema: listInput,
  outputSchema: z.strictObject({ learnings: z.array(learningOutput), total: z.number().int() }),
};

const getInput = z.strictObject({ learningId: learningIdInput });

export type LearningGetInput = z.output<typeof getInput>;

export const learningGetDefinition: ToolDefinition<LearningGetInput> = {
  ...reading,
  name: 'learning_get',
  description: 'Reads one learning, with the session and the event that it comes from.',
  inputSchema: getInput,
  outputSchema: learningOutput,
};

export const learningCaptureDefinition: ToolDefinition<z.output<typeof newLearning>> = {
  ...managed,
  name: 'learning_capture',
  description: `Keeps something that you have learned for all your sessions. At most ${MAX_CAPTURES_PER_WAKE} in one wake; what you know already only counts once more. What is to be in your memory gets there once the outcome of this session is reached.`,
  inputSchema: newLearning,
  outputSchema: z.strictObject({
    learningId: z.string(),
    as: z.enum(['new', 'duplicate']),
    duplicateOf: z.string().optional(),
  }),
  effects: ['writes_session'],
  permissionPolicy: 'always_allow',
  readOnly: false,
  interruptBehavior: 'finish',
};
