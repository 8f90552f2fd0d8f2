/** What the doctor finds: one thing that is not as it should be, and what to do about it. */
import type { ErrorRecord } from '../../machines/errors.ts';

export interface Finding {
  readonly area:
    | 'home'
    | 'agents'
    | 'environments'
    | 'vaults'
    | 'skills'
    | 'memory'
    | 'sessions'
    | 'activations'
    | 'processes'
    | 'worktrees'
    | 'subagents'
    | 'schedules'
    | 'programs'
    | 'tools';
  /** A note is as it may be; a problem has to be dealt with. */
  readonly severity: 'problem' | 'note';
  /** A path, or the name of a thing. */
  readonly where: string;
  readonly what: string;
  /** As one sentence. */
  readonly remedy: string;
  /** Whether `--repair` can put it right. */
  readonly isRepairable: boolean;
}

/** A finding with the way to put it right, when there is one. */
export interface RepairableFinding extends Finding {
  readonly repair?: (() => Promise<void>) | undefined;
}

/** What to do about a thing that could not be read, from the error that says so. */
export function remedyOf({ hint, category }: Pick<ErrorRecord, 'hint' | 'category'>): string {
  return hint ?? (category === 'storage' ? 'Check who owns it and its permissions.' : 'Mend the file.');
}

type FindingParts = Omit<RepairableFinding, 'isRepairable' | 'severity'>;

export function problem(parts: FindingParts): RepairableFinding {
  return { ...parts, severity: 'problem', isRepairable: parts.repair !== undefined };
}

export function note(parts: FindingParts): RepairableFinding {
  return { ...parts, severity: 'note', isRepairable: parts.repair !== undefined };
}
