/**
 * Where worktree adapters, which are foreign code, meet the runtime: synchronous or not, each call has an end, and only
 * a clear yes is a yes.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeFinding, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';
import type { PreparedSubagentWorktree, SubagentWorktreeAdapter, WorktreeRequest } from './worktree-adapter.ts';

/** The code of what an adapter answered that is no worktree. */
export const ADAPTER_INVALID = 'WORKTREE_ADAPTER_INVALID';

export class AdapterAccess {
  readonly #adapter: SubagentWorktreeAdapter;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  constructor(adapter: SubagentWorktreeAdapter, clock: Clock, timeoutMs: number) {
    this.#adapter = adapter;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Has no time limit of its own: the request has a signal, and an answer that no caller waits for would leave a
   * worktree behind.
   */
  async prepare(request: WorktreeRequest): Promise<PreparedSubagentWorktree> {
    const prepared: unknown = await this.#adapter.prepare(request);
    if (isWorktree(prepared)) return prepared;
    throw new BackgroundTaskError(
      'runner',
      `the worktree adapter must answer prepare with { repoRoot, worktreePath, branchName }, got ${JSON.stringify(prepared) ?? 'nothing'}`,
      {
        code: ADAPTER_INVALID,
        hint: 'Correct prepare() of the adapter; the paths are absolute texts.',
      },
    );
  }

  async begin(worktree: PreparedSubagentWorktree): Promise<void> {
    await this.#within('begin', async () => this.#adapter.begin?.(worktree));
  }

  /** What fails finds that it is unknown. Never rejects. */
  async inspect(worktree: PreparedSubagentWorktree): Promise<WorktreeInspection> {
    try {
      if (this.#adapter.inspect === undefined) return await this.#asked(worktree);
      const found: unknown = await this.#within('inspect', async () => this.#adapter.inspect?.(worktree));
      if (isInspection(found)) return found;
      return unknownInspection(`inspect answered ${JSON.stringify(found) ?? 'nothing'}`, undefined);
    } catch (error) {
      return unknownInspection(messageOf(error), RuntimeError.is(error) ? error.hint : undefined);
    }
  }

  /** @param findings say it where the adapter has no words of its own: it is not examined once more */
  async statusOf(
    worktree: PreparedSubagentWorktree,
    findings: readonly WorktreeFinding[],
  ): Promise<string | undefined> {
    if (this.#adapter.getStatus === undefined) return findings.map(({ text }) => text).join('; ');
    const status: unknown = await this.#within('getStatus', async () => this.#adapter.getStatus?.(worktree));
    return typeof status === 'string' ? status : undefined;
  }

  async remove(worktree: PreparedSubagentWorktree): Promise<void> {
    await this.#within('remove', async () => this.#adapter.remove(worktree));
  }

  async preserve(worktree: PreparedSubagentWorktree, inspection: WorktreeInspection): Promise<void> {
    await this.#within('preserve', async () => this.#adapter.preserve?.(worktree, inspection));
  }

  async #asked(worktree: PreparedSubagentWorktree): Promise<WorktreeInspection> {
    const isClean: unknown = await this.#within('isClean', async () => this.#adapter.isClean(worktree));
    if (isClean === true) return { isClean: true, findings: [] };
    if (isClean === false)
      return {
        isClean: false,
        findings: [{ kind: 'changed', text: 'there is something in it that is not in the repository' }],
      };
    return unknownInspection(`isClean answered ${JSON.stringify(isClean) ?? 'nothing'}`, undefined);
  }

  async #within<Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer> {
    const timeoutMs = this.#timeoutMs;
    const answer = ask();
    if ((await waitFor(answer, { clock: this.#clock, timeoutMs })) === 'over') return answer;
    throw new BackgroundTaskError('timeout', `the worktree adapter did not answer ${what} within ${timeoutMs} ms`, {
      code: 'WORKTREE_ADAPTER_TIMEOUT',
      hint: 'Check what it waits for, or raise the time limit of the adapter.',
    });
  }
}

function unknownInspection(why: string, nextAction: string | undefined): WorktreeInspection {
  return {
    isClean: false,
    findings: [{ kind: 'unknown', text: `it could not be found out what is in it: ${why}` }],
    nextAction,
  };
}

function isWorktree(value: unknown): value is PreparedSubagentWorktree {
  const { repoRoot, worktreePath, branchName } = (value ?? {}) as Partial<
    Record<keyof PreparedSubagentWorktree, unknown>
  >;
  return [repoRoot, worktreePath, branchName].every((text) => typeof text === 'string' && text !== '');
}

function isInspection(value: unknown): value is WorktreeInspection {
  const { isClean, findings } = (value ?? {}) as Partial<Record<keyof WorktreeInspection, unknown>>;
  return typeof isClean === 'boolean' && Array.isArray(findings);
}
