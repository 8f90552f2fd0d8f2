/** What the tools of Claude Code come to, in terms of our own tools: so that the same rules judge them. */
import type { RunToolMeaning } from '../../actors/run/agent-runtime.ts';

type Input = Readonly<Record<string, unknown>>;

const MEANINGS: Readonly<Record<string, (input: Input) => RunToolMeaning | undefined>> = {
  Bash: ({ command }) => (isText(command) ? { kind: 'command', command } : undefined),
  Read: ({ file_path }) => (isText(file_path) ? { kind: 'read', path: file_path } : undefined),
  NotebookRead: ({ notebook_path }) => (isText(notebook_path) ? { kind: 'read', path: notebook_path } : undefined),
  LS: ({ path }) => (isText(path) ? { kind: 'read', path } : undefined),
  Glob: ({ path }) => ({ kind: 'read', path: isText(path) ? path : '.' }),
  Grep: ({ path }) => ({ kind: 'read', path: isText(path) ? path : '.' }),
  Write: ({ file_path }) => (isText(file_path) ? { kind: 'write', path: file_path } : undefined),
  Edit: ({ file_path }) => (isText(file_path) ? { kind: 'write', path: file_path } : undefined),
  MultiEdit: ({ file_path }) => (isText(file_path) ? { kind: 'write', path: file_path } : undefined),
  NotebookEdit: ({ notebook_path }) => (isText(notebook_path) ? { kind: 'write', path: notebook_path } : undefined),
};

/** Undefined where it cannot be told: then only a rule for the tool itself can allow it. */
export function claudeToolMeaning(name: string, input: Input): RunToolMeaning | undefined {
  return Object.hasOwn(MEANINGS, name) ? MEANINGS[name]?.(input) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
