/** The port to agent definitions. */
import type { AgentDefinition, AgentFrontmatter } from '../../machines/agent/agent-definition.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import type { Tool } from '../turn/tool.ts';

/** What is there under a name: an agent, or the reason why it cannot be read. One bad file must not hide the others. */
export type AgentListing =
  | { readonly agentId: string; readonly definition: AgentDefinition }
  | { readonly agentId: string; readonly error: ErrorRecord };

export interface NewAgent {
  readonly agentId: string;
  /** The whole file, or its parts. */
  readonly source: string | { readonly frontmatter: AgentFrontmatter; readonly instructions: string };
}

export interface AgentCatalog {
  /** Every agent, by id. */
  list(): Promise<readonly AgentListing[]>;
  /** @throws RuntimeError AGENT_NOT_FOUND; AGENT_INVALID naming file and line */
  get(agentId: string): Promise<AgentDefinition>;
  /** Tools that this agent brings and no other has. Absent: none brings any. */
  toolsOf?(agentId: string): readonly Tool[];
  /** Validates first. @throws RuntimeError AGENT_EXISTS; AGENT_INVALID */
  create(agent: NewAgent): Promise<AgentDefinition>;
  /** Reads a definition without storing it; `fileName` is what errors call it. @throws RuntimeError AGENT_INVALID */
  validate(agentId: string, source: string, fileName?: string): AgentDefinition;
}
