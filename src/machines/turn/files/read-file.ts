/** The managed tool `read`: a page of a text file, or what a file is that is no text. */
import * as z from 'zod';
import { readsOnly } from '../tool-definition.ts';
import type { ToolDefinition } from '../tool-definition.ts';
import { DEFAULT_READ_LINES, MAX_READ_LINES } from './file-limits.ts';
import { imageMediaType } from './file-kind.ts';
import { filePath } from './file-path.ts';

const readInput = z.strictObject({
  path: filePath.describe('The file, from the workspace or absolute.'),
  offset: z
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('The first line to give, counted from 1. Default 1.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_READ_LINES)
    .optional()
    .describe(`Lines to give at most. Default ${DEFAULT_READ_LINES}.`),
});

export type ReadInput = Readonly<z.output<typeof readInput>>;

/**
 * Of a text: its lines, each as its number, a tab and its text, then remarks in square brackets, which have no number.
 * Of an image: where it is, for the step that shows it to the model. Of anything else: what it is.
 */
const readOutput = z.union([
  z.string(),
  z.strictObject({
    type: z.literal('image'),
    mediaType: imageMediaType,
    path: z.string(),
    bytes: z.number().int().nonnegative(),
  }),
  z.strictObject({
    type: z.literal('binary'),
    mediaType: z.string(),
    path: z.string(),
    bytes: z.number().int().nonnegative(),
    note: z.string(),
  }),
]);

export type ReadOutput = Readonly<z.output<typeof readOutput>>;

export const readDefinition: ToolDefinition<ReadInput> = {
  name: 'read',
  description:
    'Reads a file. Text comes by lines: the number of the line, a tab, and the line itself; remarks stand in square brackets without a number. ' +
    'A long file comes in pages: go on with the offset that the last remark names. Images can be read too.',
  inputSchema: readInput,
  outputSchema: readOutput,
  ...readsOnly,
  family: 'files',
  effects: ['reads_files'],
};
