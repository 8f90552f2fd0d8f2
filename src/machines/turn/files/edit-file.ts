/** The managed tool `edit`: parts of a file replaced by others, all of them or none. */
import * as z from 'zod';
import type { ToolDefinition } from '../tool-definition.ts';
import { MAX_EDIT_TEXT_CHARACTERS, MAX_EDITS } from './file-limits.ts';
import { filePath } from './file-path.ts';

const oldText = z
  .string()
  .min(1)
  .max(MAX_EDIT_TEXT_CHARACTERS)
  .describe('What is there now, exactly, without line numbers. It must be found once.');
const newText = z.string().max(MAX_EDIT_TEXT_CHARACTERS).describe('What is to be there instead.');
const replaceAll = z.boolean().optional().describe('Replaces it wherever it is found. Default false.');

const textEdit = z.strictObject({ oldText, newText, replaceAll });

export type TextEdit = Readonly<z.output<typeof textEdit>>;

// Providers want an object at the top, so the two forms are told apart by a check and not by a union.
const editInput = z
  .strictObject({
    path: filePath.describe('The file, from the workspace or absolute.'),
    oldText: oldText.optional(),
    newText: newText.optional(),
    replaceAll,
    edits: z
      .array(textEdit)
      .min(1)
      .max(MAX_EDITS)
      .optional()
      .describe(
        'Several changes instead of one: each works on what the one before it left, and none is made unless all can be.',
      ),
  })
  .refine(
    (input) =>
      input.edits === undefined
        ? input.oldText !== undefined && input.newText !== undefined
        : input.oldText === undefined && input.newText === undefined && input.replaceAll === undefined,
    'expected either oldText and newText, or edits alone',
  );

export type EditInput = Readonly<z.output<typeof editInput>>;

const editOutput = z.strictObject({
  path: z.string().describe('From the workspace, or by the name of its mount.'),
  replacements: z.number().int().positive().describe('Places that were changed.'),
  diff: z.string().describe('What changed, as a unified diff without file names.'),
});

export type EditOutput = Readonly<z.output<typeof editOutput>>;

/** The changes of a call, whichever form they came in. */
export function editsOf({
  oldText: before,
  newText: after,
  replaceAll: everywhere,
  edits,
}: EditInput): readonly TextEdit[] {
  if (edits !== undefined) return edits;
  return before === undefined || after === undefined
    ? []
    : [{ oldText: before, newText: after, replaceAll: everywhere }];
}

export const editDefinition: ToolDefinition<EditInput> = {
  name: 'edit',
  description:
    'Replaces text in a file. oldText must be exactly what the file holds, indentation included, and be found once: take in more lines around it if it is not unique, ' +
    'or set replaceAll. Line endings stay as they are in the file. Several changes go in edits and are made together or not at all.',
  inputSchema: editInput,
  outputSchema: editOutput,
  ownership: 'managed',
  family: 'files',
  permissionPolicy: 'always_allow',
  effects: ['reads_files', 'writes_files'],
  readOnly: false,
  destructive: true,
  idempotent: false,
  interruptBehavior: 'finish',
};
