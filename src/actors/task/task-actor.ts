/** The actor of one task: a child of the supervisor in XState's sense, running the compiled lifecycle. */
import type { AnyActorRef } from 'xstate';
import { taskLifecycle } from '../../machines/task/task-lifecycle.ts';
import { startChild } from '../xstate-child.ts';

/** Creates and starts the actor of a task. It begins in `queued`. */
export function startTaskActor(supervisor: AnyActorRef, taskId: string): AnyActorRef {
  return startChild(supervisor, taskLifecycle, taskId);
}
