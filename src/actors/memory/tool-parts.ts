/** What the tools about memory and shared files have in common. */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_SHOWN_CHARACTERS } from '../../machines/memory/memory-tool-definitions.ts';
import type { SharedFilesVersion } from '../../machines/memory/shared-files-version.ts';
import type { ToolContext, HookedWake } from '../turn/tool.ts';

/** @throws RuntimeError TOOL_NEEDS_WAKE where the tool is run outside of one */
export function wakeOf({ wake }: ToolContext): HookedWake {
  if (wake !== undefined) return wake;
  throw new RuntimeError('TOOL_NEEDS_WAKE', 'expected to run in a wake of a session', {
    category: 'validation',
    hint: 'Let an agent call the tool.',
  });
}

/** A version as a model is told of it. */
export function shownVersion({ version, at, by, why, changed }: SharedFilesVersion): {
  readonly version: number;
  readonly at: string;
  readonly by: string;
  readonly why: string;
  readonly changed: readonly string[];
} {
  return {
    version,
    at,
    by: by.kind === 'people' ? 'people' : `session ${by.sessionId}`,
    why,
    changed: changed.slice(0, MAX_SHOWN_PATHS),
  };
}

const MAX_SHOWN_PATHS = 50;

export function shownText(text: string): { readonly content: string; readonly isShortened: boolean } {
  return { content: beginningOf(text, MAX_SHOWN_CHARACTERS), isShortened: text.length > MAX_SHOWN_CHARACTERS };
}

/** As text; undefined for what is none. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
