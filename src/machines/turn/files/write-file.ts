/** The managed tool `write`: a whole file, put in place at once. */
import * as z from 'zod';
import type { ToolDefinition } from '../tool-definition.ts';
import { MAX_WRITE_CHARACTERS } from './file-limits.ts';
import { filePath } from './file-path.ts';

const writeInput = z.strictObject({
  path: filePath.describe('The file, from the workspace or absolute. Folders that are missing are made.'),
  content: z.string().max(MAX_WRITE_CHARACTERS).describe('All of what the file is to hold.'),
});

export type WriteInput = Readonly<z.output<typeof writeInput>>;

const writeOutput = z.strictObject({
  path: z.string().describe('From the workspace, or by the name of its mount.'),
  action: z.enum(['created', 'replaced']),
  lines: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
});

export type WriteOutput = Readonly<z.output<typeof writeOutput>>;

export const writeDefinition: ToolDefinition<WriteInput> = {
  name: 'write',
  description:
    'Writes a whole file, and the folders above it. A file that is there already must have been read before in this session and must not have changed since. ' +
    'To change a part of a file use edit.',
  inputSchema: writeInput,
  outputSchema: writeOutput,
  ownership: 'managed',
  family: 'files',
  permissionPolicy: 'always_allow',
  effects: ['writes_files'],
  readOnly: false,
  destructive: true,
  idempotent: false,
  interruptBehavior: 'finish',
};
