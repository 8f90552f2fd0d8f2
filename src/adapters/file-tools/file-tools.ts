/** The managed tools for files: `read write edit glob grep`. */
import type { Tool } from '../../actors/turn/tool.ts';
import { createEditTool } from './edit-tool.ts';
import { FileToolPorts } from './file-tool-ports.ts';
import type { FileToolsOptions } from './file-tool-ports.ts';
import { createGlobTool } from './glob-tool.ts';
import { createGrepTool } from './grep-tool.ts';
import type { QuotaNote } from '../../actors/turn/quota-notes.ts';
import { createReadTool } from './read-tool.ts';
import { createWriteTool } from './write-tool.ts';

export interface FileToolset {
  readonly tools: readonly Tool[];
  /**
   * What to tell an agent after a command, for `withQuotaNotes`; undefined as long as its workspace holds no more than
   * it may.
   */
  readonly quotaNote: QuotaNote;
}

/**
 * One set for a whole runtime: it remembers what each session has seen of each file, and lets calls write one after
 * another. That memory is the process's own; after a restart `write` asks for files to be read again.
 */
export function createFileTools(options: FileToolsOptions = {}): readonly Tool[] {
  return createFileToolset(options).tools;
}

/** The same, with what else knows of its quotas. */
export function createFileToolset(options: FileToolsOptions = {}): FileToolset {
  const ports = new FileToolPorts(options);
  return {
    tools: [
      createReadTool(ports),
      createWriteTool(ports),
      createEditTool(ports),
      createGlobTool(ports),
      createGrepTool(ports),
    ],
    quotaNote: (context) => ports.quotaNote(context),
  };
}
