/** What a session does, told as what its job does: the words it says, the tools it uses. */
import { beginningOf } from '../../machines/cut-text.ts';
import type { SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import type { BackgroundTaskRunnerEvent } from '../../machines/task/task-state.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';

/** Characters of a tool's first argument that are told. */
const MAX_ARGUMENT_CHARACTERS = 200;

export class SessionRelay {
  readonly #jobId: string;
  readonly #emit: (event: BackgroundTaskRunnerEvent) => void;
  readonly #names = new Map<string, string>();

  constructor(jobId: string, emit: (event: BackgroundTaskRunnerEvent) => void) {
    this.#jobId = jobId;
    this.#emit = emit;
  }

  /** What the backend streams. A tool that it runs itself comes through the log as all others do. */
  readonly run = (event: AgentRunEvent): void => {
    const taskId = this.#jobId;
    if (event.stream === 'assistant' && event.data.kind === 'text')
      this.#emit({ type: 'background_task_text_delta', taskId, delta: event.data.text });
    else this.alive();
  };

  readonly alive = (): void => this.#emit({ type: 'background_task_activity', taskId: this.#jobId });

  /** What is stored in the log of the session. */
  log(event: SessionEvent): void {
    if (event.type === 'agent.tool_use') this.#begins(event.data);
    else if (event.type === 'agent.tool_result') this.#ends(event.data);
    else this.alive();
  }

  #begins({ callId, name, input }: SessionEventData<'agent.tool_use'>): void {
    this.#names.set(callId, name);
    const firstArg = firstArgumentOf(input);
    this.#emit({
      type: 'background_task_tool_start',
      taskId: this.#jobId,
      toolName: name,
      ...(firstArg === undefined ? {} : { firstArg }),
    });
  }

  #ends({ callId, name, outcome, output }: SessionEventData<'agent.tool_result'>): void {
    if (!this.#names.delete(callId)) return;
    const isSuccess = outcome === 'completed';
    this.#emit({
      type: 'background_task_tool_end',
      taskId: this.#jobId,
      toolName: name,
      success: isSuccess,
      ...(isSuccess ? {} : { error: textOf(output) ?? outcome }),
    });
  }
}

function firstArgumentOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return textOf(input);
  const [first] = Object.values(input) as unknown[];
  return textOf(first);
}

function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : value === undefined ? undefined : JSON.stringify(value);
  return text === undefined ? undefined : beginningOf(text, MAX_ARGUMENT_CHARACTERS);
}
