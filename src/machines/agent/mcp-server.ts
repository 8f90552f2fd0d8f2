/**
 * How an agent file names an MCP server. Secrets come by reference: a value may be taken from the environment of the
 * runtime, or from a vault.
 */
import * as z from 'zod';
import { headerName, textWithoutNul } from '../text-schemas.ts';

/** What no argument, variable or header can carry. */
const text = textWithoutNul.max(10_000);

/** A secret of a vault that the environment of the agent names: `vault/secret`. */
const secretReference = z
  .string()
  .max(130)
  .regex(/^[a-z0-9][a-z0-9_-]*\/[a-z0-9][a-z0-9_-]*$/, 'expected a secret as vault/name, such as github/token');

/** A secret of a vault, with what stands before it, such as `Bearer `. */
export const vaultValue = z.strictObject({
  /** The secret, as vault/name. */
  vault: secretReference,
  /** What stands before it, such as `Bearer `. */
  prefix: text.max(200).optional(),
});

/** A text, the name of a variable in the environment of the runtime that holds it, or a secret of a vault. */
const value = z.union([
  text,
  z.strictObject({
    /** The variable of the runtime that holds the value. */
    env: z.string().min(1).max(200),
  }),
  vaultValue,
]);

/** What a variable of an environment can be called. */
const variableName = z
  .string()
  .max(200)
  .regex(/^[^=\0]+$/, 'expected the name of a variable: no "=", not empty');

/** An hour. */
export const MAX_MCP_TIMEOUT_MS = 3_600_000;

export const DEFAULT_MCP_TIMEOUT_MS = 60_000;
export const DEFAULT_MCP_START_TIMEOUT_MS = 30_000;

const timeoutMs = z.number().int().min(1).max(MAX_MCP_TIMEOUT_MS).optional();

const shared = {
  /**
   * For one call, in milliseconds; progress that the server reports begins it anew, up to an hour altogether. Default
   * 60,000.
   */
  timeoutMs,
  /** To start or connect and to be ready, in milliseconds. Default 30,000. */
  startTimeoutMs: timeoutMs,
  /**
   * Whether to believe what the server says of its own tools: that one changes nothing, or may be called twice. Default
   * false: each of its tools counts as one that changes things.
   */
  trust: z.boolean().optional(),
};

const url = z
  .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
  .refine((address) => !/^https?:\/\/[^/?#]*@/i.test(address), {
    error: 'a URL must not hold a user name or a password; pass them as a header',
  });

export const mcpServer = z.union([
  z.strictObject({
    /** A program, started without a shell. */
    command: text.min(1),
    /** What it is started with. */
    args: z.array(text).max(1_000).optional(),
    /** Absolute, or from the folder of the agent file. Default: the folder of the agent file. */
    cwd: text.min(1).optional(),
    /** Beside these it gets PATH, HOME and the like, nothing else. */
    env: z.record(variableName, value).optional(),
    ...shared,
  }),
  z.strictObject({
    /** The address of a server over HTTP. */
    url,
    /** Sent with every request. */
    headers: z.record(headerName, value).optional(),
    ...shared,
  }),
]);

export type McpServerInput = z.input<typeof mcpServer>;
export type McpServer = Readonly<z.output<typeof mcpServer>>;
