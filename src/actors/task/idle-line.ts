/**
 * The first idle deadlines of tasks that share one limit: tasks that start later are due later, so a line with one
 * timer for its head is enough. Joining and leaving cost the same at ten tasks and at a million, and a task that ends
 * early never arms a timer.
 */
import type { Clock, TimerHandle } from '../clock/clock.ts';

export interface LineMember {
  /** Steady time of joining. */
  joinedAtMs: number;
  isInLine: boolean;
  lineBefore: LineMember | undefined;
  lineAfter: LineMember | undefined;
  /** The limit has passed since it joined. It has left the line. */
  due(): void;
}

export class IdleLine {
  readonly limitMs: number;
  readonly #clock: Clock;
  #first: LineMember | undefined;
  #last: LineMember | undefined;
  #timer: TimerHandle | undefined;

  constructor(limitMs: number, clock: Clock) {
    this.limitMs = limitMs;
    this.#clock = clock;
  }

  /** @param nowMs steady time; never earlier than that of the member before */
  join(member: LineMember, nowMs: number): void {
    member.joinedAtMs = nowMs;
    member.isInLine = true;
    member.lineBefore = this.#last;
    if (this.#last === undefined) this.#first = member;
    else this.#last.lineAfter = member;
    this.#last = member;
    // For the head: the member may join while those before it fall due.
    if (this.#timer === undefined) this.#arm(this.#first ?? member, nowMs);
  }

  leave(member: LineMember): void {
    if (!member.isInLine) return;
    const { lineBefore, lineAfter } = member;
    if (lineBefore === undefined) this.#first = lineAfter;
    else lineBefore.lineAfter = lineAfter;
    if (lineAfter === undefined) this.#last = lineBefore;
    else lineAfter.lineBefore = lineBefore;
    member.isInLine = false;
    member.lineBefore = undefined;
    member.lineAfter = undefined;
    // A timer that comes too early finds the new head; without a head it would keep the process alive.
    if (this.#first !== undefined) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(head: LineMember, nowMs: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#fire(), Math.max(0, head.joinedAtMs + this.limitMs - nowMs));
  }

  #fire(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.steadyNow();
    try {
      for (let head = this.#first; head !== undefined && head.joinedAtMs + this.limitMs <= nowMs; head = this.#first) {
        this.leave(head);
        head.due();
      }
    } finally {
      if (this.#first !== undefined && this.#timer === undefined) this.#arm(this.#first, nowMs);
    }
  }
}
