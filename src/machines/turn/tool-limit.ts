/** Too many tools for a provider or for a context: which of them a model is given, and how that is said. */
import type { ToolDefinition } from './tool-definition.ts';

interface Limited {
  readonly definition: Pick<ToolDefinition<never>, 'name' | 'ownership'>;
}

export interface LimitedTools<Tool extends Limited> {
  readonly tools: ReadonlyMap<string, Tool>;
  /** By whom they come from: what is missing, and why. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

/** What to do about it. */
export const NAME_THE_TOOLS =
  'Name the tools that the agent needs in its file: under tools, - { mcp: SERVER, tools: [NAME, …] } in place of the whole server.';

/**
 * As many as the provider takes: those that the agent file names one by one before those that servers bring, each in
 * their order.
 */
export function limitedTools<Tool extends Limited>(
  tools: ReadonlyMap<string, Tool>,
  limit: { readonly provider: string; readonly maxTools: number } | undefined,
): LimitedTools<Tool> {
  if (limit === undefined || tools.size <= limit.maxTools) return { tools, leftOut: [] };
  const ranked = [...tools].toSorted(([, one], [, other]) => Number(isOfServer(one)) - Number(isOfServer(other)));
  const kept = new Set(ranked.slice(0, limit.maxTools).map(([name]) => name));
  const left = [...tools].filter(([name]) => !kept.has(name)).map(([, tool]) => tool);
  const given = countsOf([...tools.values()]);
  const leftOut = [...countsOf(left)].map(([source, count]) => ({
    name: source,
    reason: `${count} of its ${given.get(source) ?? count} tools are left out: the provider ${limit.provider} takes at most ${limit.maxTools}, and the agent has ${tools.size}. ${NAME_THE_TOOLS}`,
  }));
  return { tools: new Map([...tools].filter(([name]) => kept.has(name))), leftOut };
}

/** How many, and from where: `310 tools (300 of the MCP server "maps", 10 others)`. */
export function countTools(tools: readonly Limited[]): string {
  const counts = [...countsOf(tools)].toSorted(([, one], [, other]) => other - one);
  const sources = counts.map(([source, count]) =>
    source === OWN ? `${count} others` : `${count} of the MCP server "${source}"`,
  );
  return `${tools.length} tools (${sources.join(', ')})`;
}

const OWN = 'tools';

function countsOf(tools: readonly Limited[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const tool of tools) {
    const source = isOfServer(tool)
      ? tool.definition.name.slice(0, Math.max(1, tool.definition.name.indexOf('__')))
      : OWN;
    counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return counts;
}

function isOfServer({ definition }: Limited): boolean {
  return definition.ownership === 'mcp';
}
