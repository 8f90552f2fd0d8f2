/** Everything a wake needs from outside. */
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { AgentRunConfig } from '../run/agent-runtime.ts';
import type { AgentRuntimeRegistry } from '../run/agent-runtime-registry.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import type { JournalCache } from '../session/journal-cache.ts';
import type { JournalPorts, SessionJournal } from '../session/session-journal.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { Tool } from '../turn/tool.ts';
import type { ToolExecutor } from '../turn/tool-executor.ts';
import type { Reconcile } from './end-survivors.ts';

export interface WakePorts extends JournalPorts {
  /** Sessions whose state is folded already. */
  readonly journals: JournalCache;
  /** Puts it into the parent's log that this session came to rest, if the parent does not know. */
  readonly tellParent: (journal: SessionJournal) => Promise<void>;
  readonly agents: AgentCatalog;
  readonly runtimes: AgentRuntimeRegistry;
  readonly runConfig: AgentRunConfig;
  readonly directories: SessionDirectories;
  readonly tools: readonly Tool[];
  readonly executor: ToolExecutor;
  /** Names this process in the log. */
  readonly owner: string;
  /**
   * Ends what dead processes left running. A wake that takes over from one that died awaits it before it writes anything or calls the
   * model. When it fails, that is reported and is part of what the log says about the dead wake; the wake goes on all the same, since a
   * session must not be frozen by a process that nobody can end.
   */
  readonly reconcile: Reconcile;
  readonly onListenerError: OnListenerError;
}

export interface WakeOptions {
  /** Aborting it stops the wake early; what was done stays done. */
  readonly signal?: AbortSignal | undefined;
  /** Nobody asked for this wake: what made it due is the session's own. Default false. */
  readonly isAutonomous?: boolean | undefined;
  /** Hears what the backend streams while it runs. Not stored. */
  readonly onRunEvent?: ((event: AgentRunEvent) => void) | undefined;
}
