/**
 * Watches one running task and trips at most once. Progress is counted, not timed: only a deadline that comes due checks
 *  the clock.
 */
import { RepetitionDetector } from '../../machines/task/repetition-detector.ts';
import type { WatchdogLimits } from '../../machines/task/watchdog.ts';
import type { BackgroundTaskTimeoutReason } from '../../machines/task/task-state.ts';
import { utf8Length } from '../../machines/utf8.ts';
import type { IdleLine, LineMember } from './idle-line.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';

/** The task that is watched. */
export interface WatchedTask {
  /** It works, and nothing has stopped it: waiting for a person or for the next fire is not idling. */
  readonly isAtWork: boolean;
  /** A limit is reached. Where its end is under way already nothing comes of it. */
  trip(reason: BackgroundTaskTimeoutReason, observed: string): void;
}

/** Whether any limit asks for a watchdog. */
export function watches(limits: WatchdogLimits): boolean {
  return limits.idleTimeoutMs > 0 || limits.maxRuntimeMs > 0 || watchesText(limits);
}

function watchesText(limits: WatchdogLimits): boolean {
  return (
    limits.outputLimitBytes > 0 ||
    limits.maxTextDeltas > 0 ||
    (limits.repetitionThreshold > 1 && limits.repetitionWindow > 1)
  );
}

export class TaskWatchdog implements LineMember {
  readonly #limits: WatchdogLimits;
  readonly #clock: Clock;
  readonly #task: WatchedTask;
  /** Where its first idle deadline waits, beside those of others. */
  readonly #line: IdleLine | undefined;
  joinedAtMs = 0;
  isInLine = false;
  lineBefore: LineMember | undefined = undefined;
  lineAfter: LineMember | undefined = undefined;
  #idleTimer: TimerHandle | undefined;
  #runtimeTimer: TimerHandle | undefined;
  /** Steady time of the last progress. */
  #progressAtMs: number;
  /** Steady time until which a running tool may stay silent. */
  #toolAllowanceMs = 0;
  #runningTools = 0;
  #outputBytes = 0;
  #textDeltas = 0;
  #repetition: RepetitionDetector | undefined;

  /** @param line shared by tasks whose idle limit is the line's */
  constructor(limits: WatchdogLimits, clock: Clock, task: WatchedTask, line?: IdleLine) {
    this.#limits = limits;
    this.#clock = clock;
    this.#task = task;
    this.#line = line?.limitMs === limits.idleTimeoutMs ? line : undefined;
    this.#progressAtMs = clock.steadyNow();
    if (limits.maxRuntimeMs > 0) {
      this.#runtimeTimer = clock.setTimeout(
        () => this.#trip('max_runtime', `it ran for ${limits.maxRuntimeMs} ms`),
        limits.maxRuntimeMs,
      );
    }
    if (limits.idleTimeoutMs === 0) return;
    if (this.#line === undefined) this.#armIdle(limits.idleTimeoutMs);
    else this.#line.join(this, this.#progressAtMs);
  }

  due(): void {
    this.#checkIdle();
  }

  /** Something happened: the idle deadline moves on. */
  progress(): void {
    if (this.#limits.idleTimeoutMs > 0) this.#progressAtMs = this.#clock.steadyNow();
  }

  text(delta: string): void {
    const limits = this.#limits;
    this.progress();
    this.#textDeltas += 1;
    if (limits.maxTextDeltas > 0 && this.#textDeltas > limits.maxTextDeltas) {
      return this.#trip('output_limit', `more than ${limits.maxTextDeltas} text deltas`);
    }
    if (limits.outputLimitBytes > 0) {
      this.#outputBytes += utf8Length(delta);
      if (this.#outputBytes > limits.outputLimitBytes)
        return this.#trip('output_limit', `more than ${limits.outputLimitBytes} bytes of text`);
    }
    if (limits.repetitionThreshold > 1 && limits.repetitionWindow >= limits.repetitionThreshold)
      this.#watchRepetition(delta);
  }

  /** A tool that declares a longer limit than the idle one may be silent that long; 0 declares no limit. */
  toolStarted(toolTimeoutMs: number | undefined): void {
    this.progress();
    this.#runningTools += 1;
    if (toolTimeoutMs === undefined || !(toolTimeoutMs >= 0)) return;
    const untilMs = toolTimeoutMs === 0 ? Infinity : this.#clock.steadyNow() + toolTimeoutMs;
    this.#toolAllowanceMs = Math.max(this.#toolAllowanceMs, untilMs);
  }

  toolEnded(): void {
    this.progress();
    this.#runningTools = Math.max(0, this.#runningTools - 1);
    if (this.#runningTools > 0) return;
    this.#toolAllowanceMs = 0;
    // The deadline may have been parked beyond the tool's allowance.
    this.#armIdle(this.#limits.idleTimeoutMs);
  }

  /** It is at work again. */
  resume(): void {
    this.progress();
    this.#armIdle(this.#limits.idleTimeoutMs);
  }

  dispose(): void {
    this.#line?.leave(this);
    if (this.#idleTimer !== undefined) this.#clock.clearTimeout(this.#idleTimer);
    if (this.#runtimeTimer !== undefined) this.#clock.clearTimeout(this.#runtimeTimer);
  }

  #armIdle(delayMs: number): void {
    if (this.#limits.idleTimeoutMs === 0 || !this.#task.isAtWork) return;
    this.#line?.leave(this);
    this.#clock.clearTimeout(this.#idleTimer);
    this.#idleTimer = delayMs === Infinity ? undefined : this.#clock.setTimeout(() => this.#checkIdle(), delayMs);
  }

  #checkIdle(): void {
    if (!this.#task.isAtWork) return;
    const { idleTimeoutMs } = this.#limits;
    const quietSinceMs = Math.max(this.#progressAtMs, this.#runningTools > 0 ? this.#toolAllowanceMs : 0);
    const remainingMs = quietSinceMs + idleTimeoutMs - this.#clock.steadyNow();
    if (remainingMs > 0) this.#armIdle(remainingMs);
    else this.#trip('idle', `no progress for ${idleTimeoutMs} ms`);
  }

  #watchRepetition(delta: string): void {
    const { repetitionWindow, repetitionThreshold } = this.#limits;
    this.#repetition ??= new RepetitionDetector(repetitionWindow, repetitionThreshold);
    const unit = this.#repetition.push(delta);
    if (unit !== undefined) this.#trip('repetition', `the text ends in ${JSON.stringify(unit)} again and again`);
  }

  #trip(reason: BackgroundTaskTimeoutReason, observed: string): void {
    this.dispose();
    this.#task.trip(reason, observed);
  }
}
