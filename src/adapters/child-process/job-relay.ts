/** Passes on what a worker says about its job: to the followers of the task, redacted, and to the log of the job. */
import type { SubagentJobStart } from '../../actors/subagent/subagent-runner.ts';
import type { PieceRedaction, SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { SubagentWorkerChildMessage } from '../../machines/subagent/worker-protocol.ts';
import type { JobLog } from './job-log.ts';

/** What says how the job ends, or belongs to the talk itself. */
export type JobReport = Exclude<
  SubagentWorkerChildMessage,
  { type: 'ready' | 'warm' | 'sent' | 'result' | 'error' | 'cancelled' }
>;

/** Requests that one job may have open. A session asks for a handful at once: more is a worker that has gone wrong. */
export const MAX_OPEN_REQUESTS = 100;

export interface JobRelayOptions extends Pick<SubagentJobStart, 'jobId' | 'emit'> {
  /** Called when it asks for more than a person could answer. */
  readonly onTooManyRequests: () => void;
  readonly log: JobLog;
  readonly redaction: SecretRedaction;
}

export class JobRelay {
  readonly #taskId: string;
  readonly #emit: SubagentJobStart['emit'];
  readonly #log: JobLog;
  readonly #redaction: SecretRedaction;
  readonly #text: PieceRedaction<string>;
  readonly #onTooManyRequests: () => void;
  /** Requests that wait for an answer. */
  readonly #asked = new Set<string>();

  constructor({ jobId, emit, log, redaction, onTooManyRequests }: JobRelayOptions) {
    this.#onTooManyRequests = onTooManyRequests;
    this.#taskId = jobId;
    this.#emit = emit;
    this.#log = log;
    this.#redaction = redaction;
    this.#text = redaction.pieces();
  }

  take(report: JobReport): void {
    if (report.type === 'activity') {
      this.#emit({ type: 'background_task_activity', taskId: this.#taskId });
      return;
    }
    if (report.type === 'text_delta') {
      this.#say(this.#text.add(report.delta));
      return;
    }
    if (report.type === 'permission_request' && !this.#isToBeAsked(report)) return;
    // What was said before comes before.
    this.end();
    const { type, v: _version, ...data } = report;
    this.#log.entry(type, data);
    this.#pass(report);
  }

  /** What was kept back of the text is no secret: no more comes. */
  end(): void {
    this.#say(this.#text.end());
  }

  /** Whether the request waited for an answer; it does no longer. */
  answer(requestId: string): boolean {
    return this.#asked.delete(requestId);
  }

  /**
   * Nothing is asked twice, nor under a name that tells a secret: that name is in what is stored, and the answer comes
   * by it.
   */
  #isToBeAsked({ requestId }: Extract<JobReport, { type: 'permission_request' }>): boolean {
    if (this.#asked.has(requestId)) return false;
    if (this.#redaction.text(requestId) !== requestId) {
      this.#log.system('A request for permission was dropped: its id holds a secret.');
      return false;
    }
    if (this.#asked.size < MAX_OPEN_REQUESTS) return true;
    this.#onTooManyRequests();
    return false;
  }

  #say(delta: string): void {
    if (delta === '') return;
    this.#log.text(delta);
    this.#emit({ type: 'background_task_text_delta', taskId: this.#taskId, delta });
  }

  #pass(report: Exclude<JobReport, { type: 'activity' | 'text_delta' }>): void {
    const taskId = this.#taskId;
    const redacted = (text: string): string => this.#redaction.text(text);
    switch (report.type) {
      case 'accepted':
        return;
      case 'tool_start': {
        const { toolName, firstArg, toolTimeoutMs } = report;
        this.#emit({
          type: 'background_task_tool_start',
          taskId,
          toolName: redacted(toolName),
          ...(firstArg === undefined ? {} : { firstArg: redacted(firstArg) }),
          ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
        });
        return;
      }
      case 'tool_end': {
        const { toolName, success, error } = report;
        this.#emit({
          type: 'background_task_tool_end',
          taskId,
          toolName: redacted(toolName),
          success,
          ...(error === undefined ? {} : { error: redacted(error) }),
        });
        return;
      }
      case 'permission_request': {
        const { requestId, toolName, toolArgs } = report;
        this.#asked.add(requestId);
        // As they are: what is judged is what runs.
        this.#emit({
          type: 'background_task_permission_request',
          taskId,
          requestId,
          toolName: redacted(toolName),
          toolArgs,
        });
        return;
      }
      case 'permission_resolved':
        this.#asked.delete(report.requestId);
        if (redacted(report.requestId) !== report.requestId) return;
        this.#emit({ type: 'background_task_permission_resolved', taskId, requestId: report.requestId });
        return;
      case 'progress':
        if (report.currentAction !== undefined)
          this.#emit({
            type: 'background_task_progress',
            taskId,
            progress: { currentAction: redacted(report.currentAction) },
          });
    }
  }
}
