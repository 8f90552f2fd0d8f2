/**
 * Tasks that wait for a slot: first in, first out within a priority, higher priorities first.
 * Linked lists, so that taking the next one and cancelling any one cost the same at ten tasks and at a million.
 */
import type { TaskRecord } from './task-record.ts';

interface Line {
  readonly priority: number;
  first: TaskRecord | undefined;
  last: TaskRecord | undefined;
}

export class TaskQueue {
  /** Highest priority first. Callers use few distinct priorities, so this stays short. */
  readonly #lines: Line[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(record: TaskRecord): void {
    const line = this.#lineOf(record.request.priority);
    record.queuedBefore = line.last;
    record.queuedAfter = undefined;
    if (line.last === undefined) line.first = record;
    else line.last.queuedAfter = record;
    line.last = record;
    record.isQueued = true;
    this.#size += 1;
  }

  shift(): TaskRecord | undefined {
    for (const line of this.#lines) {
      if (line.first === undefined) continue;
      const record = line.first;
      this.#unlink(line, record);
      return record;
    }
    return undefined;
  }

  /** Takes a task out wherever it stands; false when it is not in the queue. */
  delete(record: TaskRecord): boolean {
    if (!record.isQueued) return false;
    this.#unlink(this.#lineOf(record.request.priority), record);
    return true;
  }

  #unlink(line: Line, record: TaskRecord): void {
    if (record.queuedBefore === undefined) line.first = record.queuedAfter;
    else record.queuedBefore.queuedAfter = record.queuedAfter;
    if (record.queuedAfter === undefined) line.last = record.queuedBefore;
    else record.queuedAfter.queuedBefore = record.queuedBefore;
    record.queuedBefore = undefined;
    record.queuedAfter = undefined;
    record.isQueued = false;
    this.#size -= 1;
  }

  #lineOf(priority: number): Line {
    let position = 0;
    for (const line of this.#lines) {
      if (line.priority === priority) return line;
      if (line.priority < priority) break;
      position += 1;
    }
    const line: Line = { priority, first: undefined, last: undefined };
    this.#lines.splice(position, 0, line);
    return line;
  }
}
