/** What the turns of Codex have used, those of its subagents included. */
import type { RunUsage } from '../../machines/run/run-output.ts';
import { tokenUsage } from './codex-protocol.ts';

type Tokens = NonNullable<ReturnType<typeof tokenUsage.parse>>['tokenUsage']['last'];

export class CodexUsage {
  readonly #steps: Tokens[] = [];

  /** Told after each answer of a model. A session that is taken up again tells of what was before: not of these turns. */
  read(given: unknown, isOfTurn: (turnId: string) => boolean): void {
    const { data } = tokenUsage.safeParse(given);
    if (data !== undefined && isOfTurn(data.turnId)) this.#steps.push(data.tokenUsage.last);
  }

  get modelSteps(): number {
    return Math.max(1, this.#steps.length);
  }

  get usage(): RunUsage | undefined {
    if (this.#steps.length === 0) return undefined;
    const sums = Object.entries({
      inputTokens: this.#sum('inputTokens'),
      outputTokens: this.#sum('outputTokens'),
      cachedInputTokens: this.#sum('cachedInputTokens'),
      cacheWriteTokens: this.#sum('cacheWriteInputTokens'),
      reasoningTokens: this.#sum('reasoningOutputTokens'),
    }).filter(([, sum]) => sum !== undefined);
    return Object.fromEntries(sums);
  }

  #sum(name: keyof Tokens): number | undefined {
    const counts = this.#steps.flatMap((step) => step[name] ?? []);
    return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
  }
}
