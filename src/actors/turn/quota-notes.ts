/**
 * Says after a command when the workspace holds more than its environment allows: nothing holds a command back, so the
 * agent has to hear of it.
 */
import type { Tool, ToolContext } from './tool.ts';

export type QuotaNote = (context: ToolContext) => Promise<string | undefined>;

/**
 * The same tools; those that run commands add `workspaceNote` to an object that they give, when there is something to
 * say.
 */
export function withQuotaNotes(tools: readonly Tool[], note: QuotaNote): readonly Tool[] {
  return tools.map((tool) =>
    tool.definition.effects?.includes('runs_processes') === true ? noting(tool, note) : tool,
  );
}

function noting(tool: Tool, note: QuotaNote): Tool {
  const run = tool.run?.bind(tool);
  if (run === undefined) return tool;
  return {
    ...tool,
    async run(input, context) {
      const result = await run(input, context);
      if (typeof result !== 'object' || result === null || Array.isArray(result)) return result;
      // What the command did counts, whether or not anything can be said about it.
      const workspaceNote = await note(context).catch(() => undefined);
      return workspaceNote === undefined ? result : { ...result, workspaceNote };
    },
  };
}
