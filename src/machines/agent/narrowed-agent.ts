/** An agent as a session has it: its file, with what the caller that asked for the session changed for good. */
import type { Narrowing } from '../session/event-parts.ts';
import type { AgentDefinition } from './agent-definition.ts';

/** The definition with another model or mode. A model that was asked for by name is the only one. */
export function narrowedAgent(
  definition: AgentDefinition,
  { model, mode, allow = [] }: Narrowing = {},
): AgentDefinition {
  const { permission } = definition;
  const moded = {
    ...definition,
    permission: { ...permission, ...(mode === undefined ? {} : { mode }), allow: [...permission.allow, ...allow] },
  };
  return model === undefined ? moded : { ...moded, fallbacks: [], ...modelOf(model, definition) };
}

/** The tools that are left, by the name under which the model calls them. */
export function narrowedTools<Tool>(
  tools: ReadonlyMap<string, Tool>,
  { tools: only, withoutTools = [] }: Pick<Narrowing, 'tools' | 'withoutTools'> = {},
): ReadonlyMap<string, Tool> {
  if (only === undefined && withoutTools.length === 0) return tools;
  return new Map(
    [...tools].filter(([name]) => (only === undefined || only.includes(name)) && !withoutTools.includes(name)),
  );
}

/** `provider/model`, or a model of the agent's own provider. */
function modelOf(
  text: string,
  { provider }: Pick<AgentDefinition, 'provider'>,
): Pick<AgentDefinition, 'provider' | 'model'> {
  const slash = text.indexOf('/');
  return slash <= 0 ? { provider, model: text } : { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}
