/** What servers of other protocols need of a runtime. A `Runtime` is one. */
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { Sessions } from '../session/sessions.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';

export interface ProtocolRuntime {
  readonly sessions: Sessions;
  readonly agents: AgentCatalog;
  readonly tasks: BackgroundTaskManager;
  words(sessionId: string, options: { readonly signal: AbortSignal }): AsyncIterable<SessionWord>;
}
