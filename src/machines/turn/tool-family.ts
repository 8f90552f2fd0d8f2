/** The families of managed tools: an agent file may name one in place of each of its tools. */
import * as z from 'zod';

export const toolFamily = z.enum([
  'files',
  'shell',
  'people',
  'session',
  'memory',
  'retrieval',
  'outcome',
  'resources',
  'skills',
  'vaults',
  'permissions',
  'network',
]);

export type ToolFamily = z.output<typeof toolFamily>;

export const TOOL_FAMILIES = toolFamily.options;

/** Those that an agent has whose file says nothing about tools. */
export const STANDARD_FAMILIES: ReadonlySet<ToolFamily> = new Set<ToolFamily>(['files', 'shell', 'people']);

export function isToolFamily(name: string): name is ToolFamily {
  return toolFamily.safeParse(name).success;
}
