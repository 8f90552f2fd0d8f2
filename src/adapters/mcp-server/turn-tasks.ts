/**
 * Turns of sessions as tasks of the protocol. A task is read from the log of its session each time, so that it is the
 * same for every client and after a restart; only the list of a connection knows which ones it has begun.
 */
import type { TaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/interfaces.js';
import type { CallToolResult, Task } from '@modelcontextprotocol/sdk/types.js';
import { cancelTurn } from '../../actors/protocol/cancel-turn.ts';
import { readTurn } from '../../actors/protocol/turn-watch.ts';
import type { AwaitedTurn } from '../../actors/protocol/await-turn.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { hasEnded, parseTurnId, turnId } from '../../machines/protocol/turn.ts';
import type { TurnRef } from '../../machines/protocol/turn.ts';
import { MCP_STATUS } from './mcp-states.ts';
import { resultOf, turnRecord } from './turn-result.ts';

/** Milliseconds between two questions of a client. A log is read for each. */
const POLL_INTERVAL_MS = 250;

/** Of one connection; older ones are still found by their id. */
const MAX_LISTED = 1_000;

export class TurnTasks implements TaskStore {
  readonly #sessions: Sessions;
  readonly #begun = new Map<string, TurnRef>();

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  async begin(ref: TurnRef): Promise<Task> {
    this.#begun.set(turnId(ref), ref);
    for (const oldest of this.#begun.keys()) {
      if (this.#begun.size <= MAX_LISTED) break;
      this.#begun.delete(oldest);
    }
    return taskOf(await readTurn(this.#sessions, ref));
  }

  async getTask(taskId: string): Promise<Task | null> {
    const found = await this.#find(taskId);
    return found === undefined ? null : taskOf(found);
  }

  async getTaskResult(taskId: string): Promise<CallToolResult> {
    const found = await this.#find(taskId);
    if (found === undefined) throw new Error(`there is no task ${taskId}`);
    const result = resultOf(turnRecord(found.turn, found.asked));
    return MCP_STATUS[found.turn.phase] === 'completed' ? result : { ...result, isError: true };
  }

  /** A client can cancel a task; everything else is said by the log. */
  async updateTaskStatus(taskId: string, status: Task['status']): Promise<void> {
    const ref = parseTurnId(taskId);
    if (status !== 'cancelled' || ref === undefined) return;
    const turn = await cancelTurn(this.#sessions, ref, 'the client cancelled the task');
    if (hasEnded(turn)) return;
    throw new RuntimeError('TURN_NOT_CANCELLED', 'the message waits for a worker and cannot be taken back', {
      category: 'conflict',
      hint: 'Start a worker, or end the session with session_stop.',
    });
  }

  async listTasks(): Promise<{ tasks: Task[] }> {
    const found = await Promise.all([...this.#begun.keys()].map((taskId) => this.getTask(taskId)));
    return { tasks: found.filter((task) => task !== null) };
  }

  /** The session makes its turns. */
  createTask(): Promise<Task> {
    return Promise.reject(new Error('a task begins with session_start or session_send'));
  }

  /** The log holds results. */
  storeTaskResult(): Promise<void> {
    return Promise.resolve();
  }

  async #find(taskId: string): Promise<AwaitedTurn | undefined> {
    const ref = parseTurnId(taskId);
    if (ref === undefined) return undefined;
    try {
      return await readTurn(this.#sessions, ref);
    } catch (error) {
      if (RuntimeError.is(error) && error.category === 'not_found') return undefined;
      throw error;
    }
  }
}

function taskOf({ turn, asked }: AwaitedTurn): Task {
  const startedAt = turn.startedAt ?? '';
  const statusMessage = turn.note ?? turn.answer;
  return {
    taskId: turnId(turn),
    status: asked.length > 0 ? MCP_STATUS.asking : MCP_STATUS[turn.phase],
    // A log is kept until its session is deleted.
    ttl: null,
    createdAt: startedAt,
    lastUpdatedAt: turn.updatedAt ?? startedAt,
    pollInterval: POLL_INTERVAL_MS,
    ...(statusMessage === undefined ? {} : { statusMessage }),
  };
}
