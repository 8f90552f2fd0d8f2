/** The managed tool `grep`: lines of files by a regular expression that takes linear time. */
import * as z from 'zod';
import { readsOnly } from '../tool-definition.ts';
import type { ToolDefinition } from '../tool-definition.ts';
import {
  DEFAULT_GREP_MATCHES,
  MAX_GLOB_CHARACTERS,
  MAX_GREP_CONTEXT,
  MAX_GREP_MATCHES,
  MAX_SEARCH_CHARACTERS,
} from './file-limits.ts';
import { filePath } from './file-path.ts';
import { searchScope } from './glob-files.ts';

const grepInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(MAX_SEARCH_CHARACTERS)
    .describe(
      'A regular expression in the syntax of RE2: no look-around and no back-references. It is matched within one line.',
    ),
  path: filePath.optional().describe('The file or folder to search. Default: the workspace.'),
  glob: z
    .string()
    .min(1)
    .max(MAX_GLOB_CHARACTERS)
    .optional()
    .describe('Only files like this, such as "*.ts" (in any folder) or "src/**/*.ts".'),
  ignoreCase: z.boolean().optional(),
  context: z
    .number()
    .int()
    .min(0)
    .max(MAX_GREP_CONTEXT)
    .optional()
    .describe('Lines to show before and after each match. Default 0.'),
  filesOnly: z.boolean().optional().describe('Names the files that match and shows no lines. Default false.'),
  maxMatches: z
    .number()
    .int()
    .min(1)
    .max(MAX_GREP_MATCHES)
    .optional()
    .describe(`Matching lines (with filesOnly: files) to give at most. Default ${DEFAULT_GREP_MATCHES}.`),
  ...searchScope,
});

export type GrepInput = Readonly<z.output<typeof grepInput>>;

const grepOutput = z.string().describe('What was found, as lines.');

export const grepDefinition: ToolDefinition<GrepInput> = {
  name: 'grep',
  description:
    'Searches files for lines that match a regular expression. Each file comes as its path, then its lines: "12:" before a line that matches, "11-" before one around it, "--" between places. ' +
    'Remarks stand in square brackets at the end.',
  inputSchema: grepInput,
  outputSchema: grepOutput,
  ...readsOnly,
  family: 'files',
  effects: ['reads_files'],
};
