/** The stage with Claude Code on it. */
import type { ProviderSettings } from '../../src/machines/run/provider-settings.ts';
import { Stage } from './stage.ts';
import type { StageOptions } from './stage.ts';

export interface ClaudeStageOptions extends Partial<StageOptions> {
  /** Options of the program, as it calls them. */
  readonly options?: ProviderSettings['options'];
  /** Variables of the program, besides those that it needs here. */
  readonly set?: Readonly<Record<string, string>>;
  /** Default: a minute. */
  readonly idleTimeoutMs?: number;
}

export function openClaude({
  options,
  set = {},
  idleTimeoutMs = 60_000,
  ...rest
}: ClaudeStageOptions = {}): Promise<Stage> {
  return Stage.open({
    program: 'claude',
    provider: ({ server, program }) => ({
      backend: 'cli-agent',
      dialect: 'claude',
      program: program({
        // The program adds the rest of the path itself.
        ANTHROPIC_BASE_URL: server.baseUrl('anthropic').replace(/\/v1$/, ''),
        ANTHROPIC_API_KEY: 'sk-fixture',
        ...set,
      }),
      idleTimeoutMs,
      ...(options === undefined ? {} : { options }),
    }),
    ...rest,
  });
}
