/**
 * How far a rule that denies or asks reaches: what is forbidden to one tool is not to be had from another. A rule that
 * allows is for its own tool only.
 */
import type { PermissionRule } from './permission-rule.ts';

/** Tools that show what is in files, or where they are: all of them can be used to get at what `read` may not. */
const READING_TOOLS: ReadonlySet<string> = new Set(['read', 'grep', 'glob']);

/** The tools besides its own for which a rule holds that denies or asks, by the tool that it names. */
const REACHES: Readonly<Record<string, (tool: string) => boolean>> = {
  shell_run: (tool) => tool.startsWith('shell_'),
  // What is edited is shown.
  read: (tool) => READING_TOOLS.has(tool) || tool === 'edit',
  write: (tool) => tool === 'edit',
};

const FILE_TOOLS: ReadonlySet<string> = new Set([...READING_TOOLS, 'write', 'edit']);

/** For a rule that denies or asks: whether it is to be held against calls of the tool. */
export function restricts(rule: PermissionRule, tool: string): boolean {
  return rule.tool === tool || (Object.hasOwn(REACHES, rule.tool) && REACHES[rule.tool]?.(tool) === true);
}

/** For a rule that denies or asks: whether a command line of which nothing is known may do what it forbids. */
export function mayBeBrokenByCommands({ tool, commandPrefix, pathGlob }: PermissionRule): boolean {
  return commandPrefix !== undefined || pathGlob !== undefined || FILE_TOOLS.has(tool);
}

/** For a rule that denies or asks: whether it is about what may be read. */
export function isAboutReading({ tool }: PermissionRule): boolean {
  return READING_TOOLS.has(tool);
}
