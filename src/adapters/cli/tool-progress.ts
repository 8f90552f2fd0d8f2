/** How far a long tool call has come, on one line. */
import type { ToolProgress } from '../../actors/turn/tool.ts';
import { oneLine } from './text.ts';

export function progressText(toolName: string, { message, done, total }: ToolProgress): string {
  const share = done === undefined ? '' : total === undefined ? String(done) : `${done} of ${total}`;
  return [oneLine(toolName), share, message === undefined ? '' : oneLine(message)].filter((part) => part !== '').join('  ');
}
