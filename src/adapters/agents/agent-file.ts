/** An agent as a file: YAML frontmatter between two `---` lines, then the instructions in Markdown. What is wrong is named with its line. */
import { LineCounter, isNode, parseDocument, stringify } from 'yaml';
import type { Document } from 'yaml';
import { MAX_AGENT_FILE_CHARACTERS, checkedFrontmatter } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition, AgentFrontmatter } from '../../machines/agent/agent-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { pathOf } from '../../machines/validate.ts';

export interface AgentFile {
  readonly agentId: string;
  readonly source: string;
  /** What errors call it. */
  readonly fileName: string;
}

interface Complaint {
  /** 1-based, in the whole file. */
  readonly line: number;
  readonly message: string;
}

/** The opening line, the frontmatter, the closing line, the body. */
const PARTS = /^---[ \t]*\n([\s\S]*?\n|)---[ \t]*(?:\n([\s\S]*))?$/;

/** The frontmatter begins on the second line. */
const LINES_BEFORE_FRONTMATTER = 1;

/** @throws RuntimeError AGENT_INVALID */
export function parseAgentFile({ agentId, source, fileName }: AgentFile): AgentDefinition {
  if (source.length > MAX_AGENT_FILE_CHARACTERS) {
    throw invalid(fileName, [{ line: 1, message: `expected at most ${MAX_AGENT_FILE_CHARACTERS} characters, received ${source.length}` }]);
  }
  const parts = PARTS.exec(source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  if (parts === null) throw invalid(fileName, [{ line: 1, message: 'expected frontmatter between two lines of "---" at the start of the file' }]);
  const [, yaml = '', body = ''] = parts;
  const frontmatter = readFrontmatter(yaml, fileName);
  const { tools, mcp, ...rest } = frontmatter;
  return Object.freeze({
    agentId,
    name: rest.name,
    description: rest.description,
    model: rest.model,
    provider: rest.provider,
    permission: rest.permission,
    budget: rest.budget,
    context: rest.context,
    instructions: body.trim(),
    ...(tools === undefined ? {} : { tools }),
    ...(mcp === undefined ? {} : { mcp }),
  });
}

export function formatAgentFile(frontmatter: AgentFrontmatter, instructions: string): string {
  return `---\n${stringify(frontmatter)}---\n\n${instructions.trim()}\n`;
}

function readFrontmatter(yaml: string, fileName: string): ReturnType<typeof checkedFrontmatter.parse> {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line + LINES_BEFORE_FRONTMATTER;
  if (document.errors.length > 0) throw invalid(fileName, document.errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message })));
  const parsed = checkedFrontmatter.safeParse(plainValue(document, fileName));
  if (parsed.success) return parsed.data;
  throw invalid(
    fileName,
    parsed.error.issues.map((issue) => {
      const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
      const message = issue.message.replace(/^Invalid (input|string|option): /, '');
      return { line: lineAt(offsetOf(document, path)), message: path.length === 0 ? message : `${pathOf(path)}: ${message}` };
    }),
  );
}

function plainValue(document: Document, fileName: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (cause) {
    // Too many aliases, which is how a small file grows into a large one.
    throw invalid(fileName, [{ line: 1, message: cause instanceof Error ? cause.message : 'the frontmatter cannot be read' }]);
  }
}

/** Where the value at `path` stands; for a key that is missing, where the map around it begins. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range !== null && node.range !== undefined) return node.range[0];
  }
  return 0;
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
