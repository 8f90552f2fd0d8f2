/** What is exported in one shell besides what it was opened with, as it is kept for the shell that takes its place. */
import type { ExportedVariables } from '../../machines/turn/shell/export-report.ts';
import { exportsToKeep } from '../../machines/turn/shell/kept-exports.ts';
import type { KeptExports } from '../../machines/turn/shell/kept-exports.ts';
import type { ShellRecordVariable } from '../../machines/turn/shell/shell-record.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';

export type ShellSecrets = Pick<SessionSecrets, 'text' | 'bytes'>;

export class ShellExports {
  /** Until all of it is in the shell again, what was kept of the one before stays. */
  #kept: KeptExports | undefined;
  #isBringingBack: boolean;
  #opening: ExportedVariables | undefined;
  readonly #given = new Map<string, string>();

  constructor(before: KeptExports | undefined) {
    this.#kept = before;
    this.#isBringingBack = before !== undefined;
  }

  get kept(): KeptExports | undefined {
    return this.#kept;
  }

  /** The first thing that the shell says. */
  noteOpening(exported: ExportedVariables | undefined): void {
    this.#opening = exported;
  }

  /** Set by a call, or again as a call has set it. */
  noteGiven(name: string, value: string | null): void {
    if (value === null) this.#given.delete(name);
    else this.#given.set(name, value);
  }

  noteBroughtBack(): void {
    this.#isBringingBack = false;
  }

  note(
    exported: ExportedVariables | undefined,
    {
      variables,
      secrets,
    }: { readonly variables: readonly ShellRecordVariable[]; readonly secrets: ShellSecrets | undefined },
  ): void {
    if (this.#isBringingBack) return;
    this.#kept = exportsToKeep({
      // What it began with is needed to tell what has changed.
      now: this.#opening === undefined ? undefined : exported,
      opening: this.#opening ?? new Map(),
      given: this.#given,
      secrets: new Set(variables.flatMap((variable) => ('secret' in variable ? [variable.name] : []))),
      redacted: (text) => secrets?.text(text) ?? text,
    });
  }
}
