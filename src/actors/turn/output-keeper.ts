/** The port to files that hold what a tool put out beyond what a model is given, where the agent can read them. */
import type { SessionIdentity } from '../session/event-store.ts';

export interface KeptOutput {
  readonly session: SessionIdentity;
  readonly callId: string;
  readonly text: string;
}

export interface OutputKeeper {
  /** Keeps the text. Resolves with the path of the file from the session's workspace. @throws RuntimeError STORAGE_FAILED */
  keep(output: KeptOutput): Promise<string>;
}
