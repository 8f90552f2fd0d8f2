/**
 * What is kept of an open shell, so that it can be opened again when its process has ended. Of variables that calls
 * have set no value is in it; of exported ones those that are no secret.
 */
import * as z from 'zod';
import { keptExports } from './kept-exports.ts';
import { MAX_HISTORY_ENTRIES, MAX_SHELL_VARIABLES } from './shell-limits.ts';
import { shellHistoryEntry } from './shell-results.ts';

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .max(200);

const variable = z.union([
  /** Set by the call that this event of the session's log holds. */
  z.strictObject({ name: variableName, seq: z.number().int().positive() }),
  z.strictObject({ name: variableName, removed: z.literal(true) }),
  /** Filled from a vault, which is `vault/secret`. */
  z.strictObject({ name: variableName, secret: z.string().min(1).max(500) }),
  /** Its value is nowhere to be found again, and why. */
  z.strictObject({ name: variableName, lost: z.string().min(1).max(500) }),
]);

export type ShellRecordVariable = Readonly<z.output<typeof variable>>;

export const shellRecord = z.strictObject({
  version: z.literal(1),
  /** Another one for each time that a shell is opened. */
  instance: z.string().min(1).max(100),
  /** As the shell names it. */
  cwd: z.string().min(1).max(16_384).optional(),
  /** Of the environment in which it was opened. */
  fingerprint: z.string().min(1).max(200).optional(),
  variables: z.array(variable).max(MAX_SHELL_VARIABLES).readonly(),
  /** What commands have exported; absent where the shell was not asked. */
  exports: keptExports.optional(),
  entries: z.array(shellHistoryEntry).max(MAX_HISTORY_ENTRIES).readonly(),
  forgotten: z.number().int().min(0),
});

export type ShellRecord = Readonly<z.output<typeof shellRecord>>;
