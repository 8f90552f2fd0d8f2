/** The port to skills: folders that people have written, for all agents or for one of them. */
import type { ErrorRecord } from '../../machines/errors.ts';
import type { Skill, SkillScope } from '../../machines/skill/skill-definition.ts';

export interface SkillQuery {
  /** Whose skills count besides those for every agent. Default: of none. */
  readonly agentId?: string | undefined;
  /** The only ones, by name. Default: all. */
  readonly only?: readonly string[] | undefined;
}

/** What is there under a name: a skill, or the reason why it cannot be read. One that is broken hides no other. */
export type SkillListing =
  | { readonly name: string; readonly scope: SkillScope; readonly skill: Skill }
  | { readonly name: string; readonly scope: SkillScope; readonly error: ErrorRecord };

export function readable(listings: readonly SkillListing[]): readonly Skill[] {
  return listings.flatMap((listing) => ('skill' in listing ? [listing.skill] : []));
}

export function problemsOf(
  listings: readonly SkillListing[],
): readonly { readonly name: string; readonly problem: string }[] {
  return listings.flatMap((listing) =>
    'error' in listing ? [{ name: listing.name, problem: listing.error.message }] : [],
  );
}

export interface SkillText {
  readonly name: string;
  /** From the folder of the skill, with slashes. */
  readonly file: string;
  readonly text: string;
  readonly bytes: number;
  /** All files of its folder, from there, as far as they are listed. */
  readonly files: readonly string[];
}

export interface SkillCatalog {
  /** By name. That of the agent stands for one of the same name for all, also when it is broken. */
  list(query?: SkillQuery): Promise<readonly SkillListing[]>;
  /** @throws RuntimeError SKILL_NOT_FOUND naming those that are there; SKILL_INVALID naming file and line */
  get(name: string, query?: SkillQuery): Promise<Skill>;
  /**
   * A text file of a skill; its SKILL.md when none is named. Where links lead out of its folder nothing is read.
   * @throws RuntimeError SKILL_NOT_FOUND, SKILL_INVALID, SKILL_FILE_NOT_FOUND, SKILL_FILE_REFUSED
   */
  read(name: string, options?: SkillQuery & { readonly file?: string | undefined }): Promise<SkillText>;
  /** Reads a SKILL.md without keeping it. @param fileName what errors call it @throws RuntimeError SKILL_INVALID */
  validate(source: string, fileName?: string): Skill;
}
