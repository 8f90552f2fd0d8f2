/** A SKILL.md: YAML frontmatter between two `---` lines, then Markdown. What is wrong is named with its line. */
import { LineCounter, isMap, isNode, isScalar, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { frontmatterIssues } from '../../machines/agent/frontmatter-issues.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_SKILL_FILE_CHARACTERS, SKILL_FILE, skillFrontmatter } from '../../machines/skill/skill-definition.ts';
import type { Skill, SkillFrontmatter, SkillScope } from '../../machines/skill/skill-definition.ts';
import { pathOf } from '../../machines/validate.ts';

export interface SkillSource {
  readonly source: string;
  /** What errors call it. */
  readonly fileName: string;
  readonly scope: SkillScope;
  /** The name of its folder, which must be its own. */
  readonly folderName?: string | undefined;
}

/** The opening line, the frontmatter, the closing line, the body. */
const PARTS = /^---[ \t]*\n([\s\S]*?\n|)---[ \t]*(?:\n([\s\S]*))?$/;
const LINES_BEFORE_FRONTMATTER = 1;

/** More than a few complaints do not help. */
const MAX_COMPLAINTS = 5;

/** @throws RuntimeError SKILL_INVALID */
export function parseSkillFile({ source, fileName, scope, folderName }: SkillSource): Skill {
  if (source.length > MAX_SKILL_FILE_CHARACTERS)
    throw invalid(fileName, 1, `expected at most ${MAX_SKILL_FILE_CHARACTERS} characters, received ${source.length}`);
  const parts = PARTS.exec(source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  if (parts === null)
    throw invalid(fileName, 1, 'expected frontmatter between two lines of "---" at the start of the file');
  const [, yaml = '', body = ''] = parts;
  const { frontmatter, lineOf } = readFrontmatter(yaml, fileName);
  const { name, description, version, license, tags = [] } = frontmatter;
  if (folderName !== undefined && folderName !== name)
    throw invalid(
      fileName,
      lineOf('name'),
      `name: expected "${folderName}", the name of its folder, received "${name}"`,
    );
  return Object.freeze({
    name,
    description,
    scope,
    tags,
    instructions: body.trim(),
    ...(version === undefined ? {} : { version: String(version) }),
    ...(license === undefined ? {} : { license }),
  });
}

interface ReadFrontmatter {
  readonly frontmatter: SkillFrontmatter;
  readonly lineOf: (key: string) => number;
}

function readFrontmatter(yaml: string, fileName: string): ReadFrontmatter {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line + LINES_BEFORE_FRONTMATTER;
  const [error] = document.errors;
  if (error !== undefined) throw invalid(fileName, lineAt(error.pos[0]), error.message);
  const lineOf = (key: unknown): number => lineAt(offsetOf(document, key));
  const parsed = skillFrontmatter.safeParse(plainValue(document, fileName), { reportInput: true });
  if (parsed.success) return { frontmatter: parsed.data, lineOf };
  const issues = frontmatterIssues(parsed.error, skillFrontmatter);
  const complaints = issues
    .slice(0, MAX_COMPLAINTS)
    .map(({ path, message }) => (path.length === 0 ? message : `${pathOf(path)}: ${message}`));
  throw invalid(
    fileName,
    lineOf(issues[0]?.path[0]),
    [...complaints, ...(issues.length > MAX_COMPLAINTS ? [`and ${issues.length - MAX_COMPLAINTS} more`] : [])].join(
      '; ',
    ),
  );
}

function plainValue(document: Document, fileName: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 10 }) as unknown;
  } catch (cause) {
    // Too many aliases, which is how a small file grows into a large one.
    throw invalid(fileName, 1, cause instanceof Error ? cause.message : 'the frontmatter cannot be read');
  }
}

function offsetOf({ contents }: Document, key: unknown): number {
  const pair = isMap(contents)
    ? contents.items.find((item) => isScalar(item.key) && item.key.value === key)
    : undefined;
  return isNode(pair?.key) ? (pair.key.range?.[0] ?? 0) : 0;
}

function invalid(fileName: string, line: number, message: string): RuntimeError {
  return new RuntimeError('SKILL_INVALID', `skill file ${fileName} is not valid: line ${line}: ${message}`, {
    category: 'validation',
    hint: `A ${SKILL_FILE} begins with frontmatter that has name and description, and may have version, license, compatibility, tags, allowed-tools and metadata.`,
    details: { fileName, line },
  });
}
