/** What the tools of Claude Code come to, in terms of our own tools: so that the same rules judge them. */
import type { RunToolMeaning } from '../../actors/run/agent-runtime.ts';
import { mayFindOutside } from '../../machines/permission/plain-path.ts';
import { hasSecretName } from '../../machines/permission/sensitive-path.ts';

type Input = Readonly<Record<string, unknown>>;

const MEANINGS: Readonly<Record<string, (input: Input) => RunToolMeaning | undefined>> = {
  // Its shell stays where an earlier command went.
  Bash: ({ command }) => (isText(command) ? { kind: 'command', command, keepsShell: true } : undefined),
  Monitor: ({ command }) => (isText(command) ? { kind: 'command', command, keepsShell: true } : undefined),
  Read: ({ file_path }) => (isText(file_path) ? { kind: 'read', path: file_path } : undefined),
  NotebookRead: ({ notebook_path }) => (isText(notebook_path) ? { kind: 'read', path: notebook_path } : undefined),
  LS: ({ path }) => (isText(path) ? { kind: 'read', path, reachesBelow: true } : undefined),
  Glob: ({ path, pattern }) => search(path, pattern),
  // Its pattern is one of text, its glob one of paths.
  Grep: ({ path, glob }) => search(path, glob),
  Write: ({ file_path }) => (isText(file_path) ? { kind: 'write', path: file_path } : undefined),
  Edit: ({ file_path }) => edit(file_path),
  MultiEdit: ({ file_path }) => edit(file_path),
  NotebookEdit: ({ notebook_path }) => edit(notebook_path),
};

/** Undefined where it cannot be told: then only a rule for the tool itself can allow it. */
export function claudeToolMeaning(name: string, input: Input): RunToolMeaning | undefined {
  return Object.hasOwn(MEANINGS, name) ? MEANINGS[name]?.(input) : undefined;
}

/** A pattern may lead out of the folder by itself, and ask for what is passed over otherwise. */
function search(path: unknown, pattern: unknown): RunToolMeaning | undefined {
  const isHarmless = pattern === undefined || (isText(pattern) && !mayFindOutside(pattern) && !hasSecretName(pattern));
  const folder = path === undefined ? '.' : path;
  return isHarmless && isText(folder) ? { kind: 'read', path: folder, reachesBelow: true } : undefined;
}

function edit(path: unknown): RunToolMeaning | undefined {
  return isText(path) ? { kind: 'write', path, edits: true } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
