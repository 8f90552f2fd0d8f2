/**
 * An agent as a file: YAML frontmatter between two `---` lines, then the instructions in Markdown. What is wrong is
 * named with its line.
 */
import { LineCounter, parseDocument, stringify } from 'yaml';
import type { Document } from 'yaml';
import { MAX_AGENT_FILE_CHARACTERS, checkedFrontmatter } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition, AgentFrontmatter } from '../../machines/agent/agent-definition.ts';
import { agentWarnings } from '../../machines/agent/agent-warnings.ts';
import type { AgentSurroundings } from '../../machines/agent/agent-warnings.ts';
import { frontmatterIssues } from '../../machines/agent/frontmatter-issues.ts';
import type { FrontmatterIssue } from '../../machines/agent/frontmatter-issues.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { pathOf } from '../../machines/validate.ts';
import { yamlOffsetOf } from '../system/yaml-places.ts';

export interface AgentFile {
  readonly agentId: string;
  readonly source: string;
  /** What errors call it. */
  readonly fileName: string;
}

export interface Complaint {
  /** 1-based, in the whole file. */
  readonly line: number;
  readonly message: string;
}

export interface InspectedAgentFile {
  readonly definition: AgentDefinition;
  /** What is probably not what was meant. */
  readonly warnings: readonly Complaint[];
}

/** The opening line, the frontmatter, the closing line, the body. */
const PARTS = /^---[ \t]*\n([\s\S]*?\n|)---[ \t]*(?:\n([\s\S]*))?$/;

/** The frontmatter begins on the second line. */
const LINES_BEFORE_FRONTMATTER = 1;

/** @throws RuntimeError AGENT_INVALID */
export function parseAgentFile(file: AgentFile): AgentDefinition {
  return readAgentFile(file).definition;
}

/** The same, with what is probably not what was meant. */
export function inspectAgentFile(file: AgentFile, surroundings: AgentSurroundings): InspectedAgentFile {
  const { definition, complaintOf } = readAgentFile(file);
  return { definition, warnings: agentWarnings(definition, surroundings).map(complaintOf) };
}

interface ReadFile {
  readonly definition: AgentDefinition;
  /** The issue with the line that it is about. */
  readonly complaintOf: (issue: FrontmatterIssue) => Complaint;
}

function readAgentFile({ agentId, source, fileName }: AgentFile): ReadFile {
  if (source.length > MAX_AGENT_FILE_CHARACTERS) {
    throw invalid(fileName, [
      { line: 1, message: `expected at most ${MAX_AGENT_FILE_CHARACTERS} characters, received ${source.length}` },
    ]);
  }
  const parts = PARTS.exec(source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  if (parts === null)
    throw invalid(fileName, [
      { line: 1, message: 'expected frontmatter between two lines of "---" at the start of the file' },
    ]);
  const [, yaml = '', body = ''] = parts;
  const { frontmatter, complaintOf } = readFrontmatter(yaml, fileName);
  const definition = { agentId, ...frontmatter, instructions: body.trim() };
  return { definition: Object.freeze(definition), complaintOf };
}

export function formatAgentFile(frontmatter: AgentFrontmatter, instructions: string): string {
  return `---\n${stringify(frontmatter)}---\n\n${instructions.trim()}\n`;
}

interface ReadFrontmatter extends Pick<ReadFile, 'complaintOf'> {
  readonly frontmatter: ReturnType<typeof checkedFrontmatter.parse>;
}

function readFrontmatter(yaml: string, fileName: string): ReadFrontmatter {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line + LINES_BEFORE_FRONTMATTER;
  if (document.errors.length > 0)
    throw invalid(
      fileName,
      document.errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message })),
    );
  const complaintOf = ({ path, message }: FrontmatterIssue): Complaint => ({
    line: lineAt(yamlOffsetOf(document, path)),
    message: path.length === 0 ? message : `${pathOf(path)}: ${message}`,
  });
  const parsed = checkedFrontmatter.safeParse(plainValue(document, fileName), { reportInput: true });
  if (parsed.success) return { frontmatter: parsed.data, complaintOf };
  throw invalid(fileName, frontmatterIssues(parsed.error, checkedFrontmatter).map(complaintOf));
}

function plainValue(document: Document, fileName: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (cause) {
    // Too many aliases, which is how a small file grows into a large one.
    throw invalid(fileName, [
      { line: 1, message: cause instanceof Error ? cause.message : 'the frontmatter cannot be read' },
    ]);
  }
}

function invalid(fileName: string, complaints: readonly Complaint[]): RuntimeError {
  const [first] = complaints;
  const text = complaints.map(({ line, message }) => `line ${line}: ${message}`).join('; ');
  return new RuntimeError('AGENT_INVALID', `agent file ${fileName} is not valid: ${text}`, {
    category: 'validation',
    hint: 'An agent file needs name, provider and model in its frontmatter, and may have description, tools, mcp, permission, context and budget.',
    details: { fileName, line: first?.line ?? 1, issues: complaints },
  });
}
