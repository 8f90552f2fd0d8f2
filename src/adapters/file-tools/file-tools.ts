/** The managed tools for files: `read write edit glob grep`. */
import type { Tool } from '../../actors/turn/tool.ts';
import { createEditTool } from './edit-tool.ts';
import { FileHouse } from './file-house.ts';
import type { FileToolsOptions } from './file-house.ts';
import { createGlobTool } from './glob-tool.ts';
import { createGrepTool } from './grep-tool.ts';
import { createReadTool } from './read-tool.ts';
import { createWriteTool } from './write-tool.ts';

/**
 * One set for a whole runtime: it remembers what each session has seen of each file, and lets calls change a file one after another. That
 * memory is the process's own; after a restart `write` asks for files to be read again.
 */
export function createFileTools(options: FileToolsOptions = {}): readonly Tool[] {
  const house = new FileHouse(options);
  return [createReadTool(house), createWriteTool(house), createEditTool(house), createGlobTool(house), createGrepTool(house)];
}
