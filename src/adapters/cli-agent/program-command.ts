/** Where a program lies, as the settings name it. */
import { isAbsolute, resolve } from 'node:path';

/** A mere name is left to PATH; a relative path starts in the folder of the agent. */
export function commandOf(command: string, agentDir: string): string {
  return command.includes('/') && !isAbsolute(command) ? resolve(agentDir, command) : command;
}
