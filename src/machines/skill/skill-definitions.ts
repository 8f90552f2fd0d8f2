/** The managed tools around skills: what a model is told of each, what it may send and what it gets. */
import * as z from 'zod';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { skillName } from './skill-definition.ts';
import { DEFAULT_SKILL_HITS, MAX_SKILL_HITS, MAX_SKILL_QUERY_CHARACTERS } from './skill-search.ts';

const listInput = z.strictObject({});

const searchInput = z.strictObject({
  query: z.string().trim().min(1).max(MAX_SKILL_QUERY_CHARACTERS).describe('Words that say what is to be done.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_SKILL_HITS)
    .optional()
    .describe(`Skills to give at most. Default ${DEFAULT_SKILL_HITS}.`),
});

export const skillResourcePath = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[^\0\\]*$/, 'expected a path with "/" and without NUL characters')
  .refine(
    (path) => !path.startsWith('/') && !path.split('/').includes('..'),
    'expected a path from the folder of the skill, inside it',
  );

const readInput = z.strictObject({
  name: skillName.describe('The name of the skill.'),
  file: skillResourcePath
    .optional()
    .describe('A file in its folder, such as reference/forms.md. Default: its SKILL.md.'),
});

export type SkillSearchInput = Readonly<z.output<typeof searchInput>>;
export type SkillReadInput = Readonly<z.output<typeof readInput>>;

const summary = z.object({
  name: z.string(),
  description: z.string(),
  scope: z.enum(['home', 'agent']),
  tags: z.array(z.string()),
});
const problems = z.array(z.object({ name: z.string(), problem: z.string() }));

const outputs = {
  list: z.object({ skills: z.array(summary), problems }),
  search: z.object({ skills: z.array(summary.extend({ score: z.number(), foundIn: z.array(z.string()) })), problems }),
  read: z.object({
    name: z.string(),
    file: z.string(),
    output: z.string(),
    bytes: z.number(),
    files: z.array(z.string()),
  }),
};

const checking = { ...readsOnly, family: 'skills', effects: ['reads_files'] } as const;

export const skillsListDefinition: ToolDefinition<Readonly<z.output<typeof listInput>>> = {
  ...checking,
  name: 'skills_list',
  description:
    'Lists the skills that are at hand: instructions that people have written for kinds of work, each with what it is for. Read one with skills_read before you use it.',
  inputSchema: listInput,
  outputSchema: outputs.list,
};

export const skillsSearchDefinition: ToolDefinition<SkillSearchInput> = {
  ...checking,
  name: 'skills_search',
  description: 'Finds skills by words, in their names, tags, descriptions, headings and texts. Best first.',
  inputSchema: searchInput,
  outputSchema: outputs.search,
};

export const skillsReadDefinition: ToolDefinition<SkillReadInput> = {
  ...checking,
  name: 'skills_read',
  description:
    'Reads the instructions of a skill, or another text file in its folder. The reply names the files that there are.',
  inputSchema: readInput,
  outputSchema: outputs.read,
};
