/**
 * A rule that allows, asks for or denies calls of a tool, as data and as text:
 *
 *   allow shell_run(npm test)       every command that begins with these words, in the folder of the workspace itself
 *   allow shell_run(npm test) in web
 *                                   the same in this folder only, from the workspace; it may be a pattern
 *   allow shell_run(make $)         this command with no word more
 *   deny write(config/**)           every path that this pattern means, from the workspace
 *   ask docs__search                every call
 */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
import { RuntimeError } from '../errors.ts';
import { describeIssues } from '../validate.ts';
import { prefixProblem } from './command-power.ts';
import { globProblem } from './path-glob.ts';
import { formatRuleWords, parseRuleWords } from './rule-words.ts';

/** Characters of the text of a rule. */
export const MAX_RULE_CHARACTERS = 2_000;
const MAX_PREFIX_WORDS = 100;

/** Printable, on one line: a rule that cannot be shown cannot be judged. */
const word = z
  .string()
  .regex(/^(?:(?!\p{C}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}).)*$/u, 'expected printable text on one line');

/**
 * Tools whose calls are command lines: what stands between parentheses is the beginning of a command. For all others it
 * is a path.
 */
const SHELL_TOOL = /^shell_/;

const toolName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,127}$/, 'expected the name of a tool');

export const permissionRule = z
  .strictObject({
    effect: z.enum(['allow', 'ask', 'deny']),
    tool: toolName,
    /** For tools whose names begin with `shell_`: the words with which a command begins. */
    commandPrefix: z.array(word).min(1).max(MAX_PREFIX_WORDS).readonly().optional(),
    /** With `commandPrefix`: whether nothing may follow. */
    exact: z.literal(true).optional(),
    /**
     * With `commandPrefix`, for a rule that allows: a pattern of the folders where it does, from the workspace. Absent:
     * the workspace itself.
     */
    folder: word.optional(),
    /** For all other tools: which paths, from the workspace. */
    pathGlob: word.optional(),
  })
  .readonly()
  .superRefine((rule, context) => {
    const problem = ruleProblem(rule);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

export type PermissionRule = z.output<typeof permissionRule>;

type RuleParts = Pick<PermissionRule, 'effect' | 'tool' | 'commandPrefix' | 'exact' | 'folder' | 'pathGlob'>;

function ruleProblem({ effect, tool, commandPrefix, exact, folder, pathGlob }: RuleParts): string | undefined {
  const isShell = SHELL_TOOL.test(tool);
  if (pathGlob !== undefined && isShell) return `${tool} is given commands, not paths`;
  if (commandPrefix !== undefined && !isShell)
    return `${tool} is given no commands; only tools whose names begin with "shell_" are`;
  if (exact === true && commandPrefix === undefined) return 'exact belongs to the words of a command';
  if (folder !== undefined) {
    if (commandPrefix === undefined) return 'a folder belongs to the words of a command';
    if (effect !== 'allow') return 'a rule that denies or asks holds in every folder';
    const expected =
      FOLDER.test(folder) && !folder.startsWith('/')
        ? globProblem(folder)
        : 'a folder from the workspace, without parentheses';
    if (expected !== undefined) return `expected ${expected}, received "${folder}"`;
  }
  if (pathGlob !== undefined) {
    const expected = globProblem(pathGlob);
    return expected === undefined ? undefined : `expected ${expected}, received "${pathGlob}"`;
  }
  return effect === 'allow' && commandPrefix !== undefined ? prefixProblem(commandPrefix, exact === true) : undefined;
}

/** Without parentheses it cannot be taken for a part of the words before it. */
const FOLDER = /^[^\s()](?:[^()]*[^\s()])?$/;

const RULE_TEXT = /^(?<effect>allow|ask|deny) +(?<tool>[^\s()]+)(?:\((?<detail>.*)\)(?: +in +(?<folder>[^()]+))?)?$/s;

/** Reads what `formatRule` writes, and what people do. @throws RuntimeError RULE_INVALID */
export function parseRule(text: string): PermissionRule {
  if (text.length > MAX_RULE_CHARACTERS)
    throw invalid(`${beginningOf(text, 40)}…`, `expected at most ${MAX_RULE_CHARACTERS} characters`);
  const groups = RULE_TEXT.exec(text.trim())?.groups;
  if (groups === undefined)
    throw invalid(text, 'expected allow, ask or deny, then a tool, then perhaps what it is given, in parentheses');
  const { effect, tool = '', detail, folder } = groups;
  // The workspace itself may be named too.
  const bound = folder === undefined || folder === '.' ? {} : { folder };
  return checkRule({ effect, tool, ...(detail === undefined ? {} : detailOf(text, tool, detail)), ...bound }, text);
}

/** A rule that came as data. @throws RuntimeError RULE_INVALID */
export function checkRule(rule: unknown, text = 'a rule'): PermissionRule {
  const parsed = permissionRule.safeParse(rule);
  if (parsed.success) return parsed.data;
  throw invalid(text, describeIssues(parsed.error).join('; '));
}

function detailOf(
  text: string,
  tool: string,
  detail: string,
): Pick<PermissionRule, 'commandPrefix' | 'exact' | 'pathGlob'> {
  if (!SHELL_TOOL.test(tool)) return { pathGlob: detail };
  const read = parseRuleWords(detail);
  if (read === undefined)
    throw invalid(
      text,
      'expected the words of one command, quoted where they hold more than letters, digits and _-./,:@%+=^',
    );
  return { commandPrefix: read.words, ...(read.isExact ? { exact: true as const } : {}) };
}

/** One line; `parseRule` reads it as the same rule. */
export function formatRule({ effect, tool, commandPrefix, exact, folder, pathGlob }: PermissionRule): string {
  const detail =
    commandPrefix === undefined ? pathGlob : formatRuleWords({ words: commandPrefix, isExact: exact === true });
  return `${effect} ${tool}${detail === undefined ? '' : `(${detail})`}${folder === undefined ? '' : ` in ${folder}`}`;
}

function invalid(text: string, problem: string): RuntimeError {
  return new RuntimeError('RULE_INVALID', `rule ${JSON.stringify(text)} is not valid: ${problem}`, {
    category: 'validation',
    hint: 'A rule reads like "allow shell_run(npm test)", "allow shell_run(make $)" for that command and no word more, "allow shell_run(npm test) in web" for that folder, "deny write(config/**)" or "ask docs__search".',
    details: { rule: text },
  });
}
