/** Which definition of an agent a wake runs under. Every wake asks, and a definition never changes: each is read once. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { MARK_DIGITS } from '../../machines/agent/definition-mark.ts';
import type { DefinitionMark } from '../../machines/agent/definition-mark.ts';
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { ToolDefinition } from '../../machines/turn/tool-definition.ts';
import { describeTool } from '../../machines/turn/tool-schema.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import { sha256Hex } from '../sha256.ts';
import type { Tool } from '../turn/tool.ts';

interface DefinitionMarksPorts {
  readonly agents: Pick<AgentCatalog, 'toolsOf'>;
  readonly tools: readonly Tool[];
}

export class DefinitionMarks {
  readonly #ports: DefinitionMarksPorts;
  readonly #known = new WeakMap<AgentDefinition, Promise<DefinitionMark | undefined>>();

  constructor(ports: DefinitionMarksPorts) {
    this.#ports = ports;
  }

  /** Undefined where something of it is no JSON, which is no reason not to wake. */
  of(definition: AgentDefinition): Promise<DefinitionMark | undefined> {
    const known = this.#known.get(definition) ?? this.#make(definition).catch(() => undefined);
    this.#known.set(definition, known);
    return known;
  }

  async #make(definition: AgentDefinition): Promise<DefinitionMark> {
    const { agents, tools } = this.#ports;
    const all = [...tools, ...(agents.toolsOf?.(definition.agentId) ?? [])];
    const text = markedText(
      definition,
      all.map((tool) => tool.definition),
    );
    const hash = (await sha256Hex(text)).slice(0, MARK_DIGITS);
    return definition.version === undefined ? { hash } : { hash, version: definition.version };
  }
}

/**
 * What a mark is made of. Managed tools are those of the version of Wakechart, and tools of servers are theirs: neither
 * is a part. @throws RuntimeError NOT_JSON
 */
function markedText({ version: _version, ...definition }: AgentDefinition, tools: readonly ToolDefinition[]): string {
  const named = definition.tools?.map(({ name }) => name);
  const brought = tools.filter(({ name, family }) => family === undefined && (named?.includes(name) ?? true));
  return canonicalJson({ definition, tools: brought.map(describeTool) });
}
