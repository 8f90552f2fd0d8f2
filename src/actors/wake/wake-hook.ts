/**
 * The port to what goes along with wakes: it lays things out for the agent before its turn or its calls, and draws
 * conclusions after it. What fails there is reported, and keeps no wake from going on.
 */
import type { HookedWake } from '../turn/tool.ts';

export interface WakeHook {
  /** For reports. */
  readonly name: string;
  /** Before each model step: what the agent can read then is up to date. Cheap when nothing has changed. */
  beforeStep?(wake: HookedWake): Promise<void>;
  /** Before the tool calls of a step are taken further. */
  beforeCalls?(wake: HookedWake): Promise<void>;
  /**
   * The wake has ended in the log, and holds the right to write still where `needsRight` asked for it. What it leaves
   * undone the next wake does.
   */
  ended?(wake: HookedWake): Promise<void>;
  /**
   * Whether `ended` would do anything that takes the right to write, as the log stands. Absent: it does. Where none
   * does, the right goes with the record of the end.
   */
  needsRight?(wake: HookedWake): boolean;
}
