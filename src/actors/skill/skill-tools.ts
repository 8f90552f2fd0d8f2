/** The managed tools around skills: those of the agent that calls them, and those for every agent. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import type { Skill, SkillSummary } from '../../machines/skill/skill-definition.ts';
import {
  skillsListDefinition,
  skillsReadDefinition,
  skillsSearchDefinition,
} from '../../machines/skill/skill-definitions.ts';
import type { SkillReadInput, SkillSearchInput } from '../../machines/skill/skill-definitions.ts';
import { searchSkills } from '../../machines/skill/skill-search.ts';
import type { Tool, ToolContext } from '../turn/tool.ts';
import { problemsOf, readable } from './skill-catalog.ts';
import type { SkillCatalog, SkillQuery } from './skill-catalog.ts';

export interface SkillToolsOptions {
  readonly skills: SkillCatalog;
  /** Those that the agent may have, by name, where its file narrows them. */
  readonly namedBy?: ((agent: AgentDefinition) => readonly string[] | undefined) | undefined;
}

export function createSkillTools(options: SkillToolsOptions): readonly Tool[] {
  return [listTool(options), searchTool(options), readTool(options)];
}

function listTool(options: SkillToolsOptions): Tool {
  return {
    definition: skillsListDefinition,
    async run(_input, context) {
      const listings = await options.skills.list(queryOf(options, context));
      return { skills: readable(listings).map(summaryOf), problems: problemsOf(listings) };
    },
  };
}

function searchTool(options: SkillToolsOptions): Tool<SkillSearchInput> {
  return {
    definition: skillsSearchDefinition,
    async run({ query, limit }, context) {
      const listings = await options.skills.list(queryOf(options, context));
      return { skills: searchSkills(readable(listings), query, limit), problems: problemsOf(listings) };
    },
  };
}

function readTool(options: SkillToolsOptions): Tool<SkillReadInput> {
  return {
    definition: skillsReadDefinition,
    async run({ name, file }, context) {
      const { text, ...rest } = await options.skills.read(name, { ...queryOf(options, context), file });
      // What is too long for a model is kept beside, under this name.
      return { ...rest, output: text };
    },
  };
}

function queryOf({ namedBy }: SkillToolsOptions, { session: { agentId }, wake }: ToolContext): SkillQuery {
  const only = wake === undefined ? undefined : namedBy?.(wake.agent.definition);
  return { agentId, ...(only === undefined ? {} : { only }) };
}

function summaryOf({ name, description, scope, tags }: Skill): SkillSummary {
  return { name, description, scope, tags };
}
