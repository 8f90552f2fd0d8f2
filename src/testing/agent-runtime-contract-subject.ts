/**
 * What the contract of backends checks, and how a backend's author brings about the situations that its cases need.
 */
import type { AgentRunParams, AgentRuntime } from '../actors/run/agent-runtime.ts';
import type { RunFailureKind } from '../machines/run/run-failure.ts';

/** What a run is given besides its id, what it is asked, its listener and its signal. */
export type RunSetting = Omit<
  AgentRunParams,
  'runId' | 'prompt' | 'messages' | 'onEvent' | 'abortSignal' | 'requestPermission' | 'resume'
>;

/** A tool that the model is to use. */
export interface ContractToolUse {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Each brings about a situation by the technology's own means, such as a server on loopback that answers like this or a
 * program that is told to, and resolves with what a run has to be given to find it, over `setting`. Several may hold at
 * once and each stays until `close`: which one a run is in follows from what it is given, such as the name of a model.
 * Whatever a run is asked, the model does as described.
 */
export interface RunSituations {
  /** The model says exactly this, in more than one piece where the technology can, and ends. */
  answers?(text: string): Promise<Partial<RunSetting>>;
  /** It reasons like this, where one can see it, and then answers. */
  reasons?(reasoning: string, text: string): Promise<Partial<RunSetting>>;
  /** The run fails with this kind; asked for those only that are declared in `failures`. */
  fails?(kind: RunFailureKind): Promise<Partial<RunSetting>>;
  /**
   * The technology says this secret of the account wherever it can while the run fails: in the body of an error, on
   * stderr.
   */
  tells?(secret: string): Promise<Partial<RunSetting>>;
  /** Nothing comes until the run is stopped. */
  hangs?(): Promise<Partial<RunSetting>>;
  /** The model says this, and then nothing comes until the run is stopped. */
  hangsAfter?(text: string): Promise<Partial<RunSetting>>;
  /** The model says this, waits for a message to be queued, and answers with that message in its text. */
  awaitsMessage?(text: string): Promise<Partial<RunSetting>>;
  /** For steps: the model says this and asks for these tools. */
  asksForTools?(text: string, uses: readonly ContractToolUse[]): Promise<Partial<RunSetting>>;
  /**
   * For turns: the backend runs these tools of its own one after the other, none of which needs permission, and the
   * model then says this.
   */
  usesTools?(uses: readonly ContractToolUse[], text: string): Promise<Partial<RunSetting>>;
  /** For turns: the same with tools that need permission each. Whether they may or not, the model then says this. */
  usesToolsIfAllowed?(uses: readonly ContractToolUse[], text: string): Promise<Partial<RunSetting>>;
  /** For turns: a tool of the backend runs until the run is stopped. */
  hangsInTool?(use: ContractToolUse): Promise<Partial<RunSetting>>;
  /** For turns: the backend's own session is gone, such as its file. */
  losesSession?(sessionId: string): Promise<void>;
  /** Everything that the model was given to read by the run that ended last, as one text. */
  heard?(): Promise<string>;
}

export type RunSituation = keyof RunSituations;

/** A backend as a case gets it: fresh, and its own. */
export interface AgentRuntimeUnderTest {
  readonly runtime: AgentRuntime;
  readonly setting: RunSetting;
  readonly situations: RunSituations;
  /**
   * What runs that have ended have left: processes, connections, timers, files outside the workspace; one sentence
   * each.
   */
  leftBehind(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AgentRuntimeContractOptions {
  /** What the backend's `runs` says. */
  readonly runs: 'step' | 'turn';
  /** The kinds of failures that `fails` can bring about, each of which gets a case of its own. */
  readonly failures: readonly RunFailureKind[];
  /**
   * The situations that the technology does not know, each with the reason. One that is neither offered nor named here
   * makes its cases fail.
   */
  readonly cannot?: Readonly<Partial<Record<RunSituation, string>>> | undefined;
}

/** A case for any test framework. */
export interface AgentRuntimeCase {
  /** A sentence about a backend; no two cases share one. */
  readonly name: string;
  /** Why it is not checked, where `cannot` names a situation that it needs. Running it then does nothing. */
  readonly skipped: string | undefined;
  /**
   * Opens a subject, checks, and closes it. Rejects with what was expected and what came when the sentence is not true.
   */
  run(): Promise<void>;
}
