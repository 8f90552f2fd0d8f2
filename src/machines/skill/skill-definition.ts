/** What a skill is: a folder with a SKILL.md, whose frontmatter says what it is called and when it is of use. */
import * as z from 'zod';
import { agentId } from '../ids.ts';

export const SKILL_FILE = 'SKILL.md';

/** Characters of a SKILL.md. */
export const MAX_SKILL_FILE_CHARACTERS = 200_000;

/** Bytes of a file of a skill that is read. */
export const MAX_SKILL_RESOURCE_BYTES = 1_000_000;

/** Skills of one folder of skills; files of one skill that are listed, and how deep they may lie. */
export const MAX_SKILLS = 1_000;
export const MAX_SKILL_FILES = 500;
export const MAX_SKILL_DEPTH = 8;

/** Names a folder too. */
export const skillName = agentId;

const line = z
  .string()
  .trim()
  .min(1)
  .max(1_024)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'expected printable text on one line');

export const skillFrontmatter = z.strictObject({
  name: skillName,
  /** What it is for and when to use it: what it is found and chosen by. */
  description: line,
  version: z.union([line.max(100), z.number()]).optional(),
  license: line.max(200).optional(),
  compatibility: line.max(500).optional(),
  tags: z.array(line.max(64)).max(20).optional(),
  /** For other programs; nothing here acts upon them. */
  'allowed-tools': z.union([line, z.array(line).max(100)]).optional(),
  metadata: z.record(z.string().max(100), z.union([z.string().max(1_000), z.number(), z.boolean()])).optional(),
});

export type SkillFrontmatter = z.output<typeof skillFrontmatter>;

/** `agent`: of one agent; it goes before one of the same name for all. */
export type SkillScope = 'home' | 'agent';

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly scope: SkillScope;
  readonly tags: readonly string[];
}

export interface Skill extends SkillSummary {
  readonly version?: string | undefined;
  readonly license?: string | undefined;
  /** The body of its SKILL.md, in Markdown. */
  readonly instructions: string;
}

/** Headings of Markdown, outside of fenced blocks. */
export function headingsOf(markdown: string): readonly string[] {
  let fence: string | undefined;
  const headings: string[] = [];
  for (const text of markdown.split('\n')) {
    const mark = /^ {0,3}(?<mark>`{3,}|~{3,})/.exec(text)?.groups?.['mark'];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined;
    const heading =
      fence === undefined
        ? /^ {0,3}#{1,6}[ \t]+(?<heading>.*?)(?:[ \t]+#+)?[ \t]*$/.exec(text)?.groups?.['heading']
        : undefined;
    if (heading !== undefined && heading !== '') headings.push(heading);
  }
  return headings;
}
