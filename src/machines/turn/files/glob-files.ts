/** The managed tool `glob`: files by how their paths check. */
import * as z from 'zod';
import { readsOnly } from '../tool-definition.ts';
import type { ToolDefinition } from '../tool-definition.ts';
import { DEFAULT_GLOB_FILES, MAX_GLOB_CHARACTERS, MAX_GLOB_FILES } from './file-limits.ts';
import { filePath } from './file-path.ts';

/** What both searches can be told about which files count. */
export const searchScope = {
  includeHidden: z
    .boolean()
    .optional()
    .describe('Takes files and folders in whose names begin with a dot. Default false.'),
  includeIgnored: z
    .boolean()
    .optional()
    .describe('Takes in what .gitignore leaves out, node_modules and .git. Default false.'),
};

const globInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(MAX_GLOB_CHARACTERS)
    .describe('Such as "**/*.ts" or "src/{a,b}/*.md": * within a name, ** for any folders, ?, [a-z], {a,b}.'),
  path: filePath.optional().describe('The folder to begin in. Default: the workspace.'),
  ...searchScope,
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_GLOB_FILES)
    .optional()
    .describe(`Files to name at most. Default ${DEFAULT_GLOB_FILES}.`),
});

export type GlobInput = Readonly<z.output<typeof globInput>>;

const globOutput = z.strictObject({
  files: z
    .array(z.string())
    .readonly()
    .describe('From the workspace, or by the name of their mount; the one changed last first.'),
  found: z.number().int().nonnegative().describe('Files that matched.'),
  notes: z.array(z.string()).readonly().optional().describe('What was not checked or not named, and why.'),
});

export type GlobOutput = Readonly<z.output<typeof globOutput>>;

export const globDefinition: ToolDefinition<GlobInput> = {
  name: 'glob',
  description:
    'Finds files by a pattern for their paths from the folder it begins in; the one changed last comes first. "*.ts" finds files in that folder only, "**/*.ts" in all below it too.',
  inputSchema: globInput,
  outputSchema: globOutput,
  ...readsOnly,
  family: 'files',
  effects: ['reads_files'],
};
