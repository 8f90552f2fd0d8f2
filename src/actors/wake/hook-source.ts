/** What is told to what goes along with the wakes of a runtime, and what comes of it. */
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { AgentRunConfig } from '../run/agent-runtime.ts';
import type { AgentRuntimeRegistry } from '../run/agent-runtime-registry.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { BoundsPorts } from '../session/parent-bounds.ts';
import type { JournalCache } from '../session/journal-cache.ts';
import type { JournalPorts } from '../session/session-journal.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Tool } from '../turn/tool.ts';
import type { WakeHook } from './wake-hook.ts';

/** What hooks of wakes may use of the runtime that they are a part of. */
export interface RuntimeServices extends JournalPorts, BoundsPorts {
  readonly sessions: Sessions;
  readonly journals: JournalCache;
  readonly agents: AgentCatalog;
  readonly directories: SessionDirectories;
  readonly tasks: BackgroundTaskManager;
  readonly runtimes: AgentRuntimeRegistry;
  readonly runConfig: AgentRunConfig;
  readonly onListenerError: OnListenerError;
}

export interface HookSource {
  readonly tools?: readonly Tool[] | undefined;
  readonly hook?: WakeHook | undefined;
  /** After the last wake and before the store closes. */
  close?(): Promise<void>;
}
