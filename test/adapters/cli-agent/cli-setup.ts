/** The backend over fixture programs, with everything real around it, and words for tests about it. */
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createCliAgentRuntime } from '../../../src/adapters/cli-agent/cli-agent-runtime.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { Step } from '../../fixtures/cli-agents/scenario.mjs';
import { programSetup } from '../../support/program-setup.ts';
import type { ProgramSetup } from '../../support/program-setup.ts';

export { textOf, told } from '../../support/program-setup.ts';

export type Family = 'claude' | 'codex';

/** What a fixture program wrote down, one object each time. */
export interface Note {
  readonly pid: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly prompt?: string;
  /** How Codex was asked for a thread. */
  readonly thread?: Readonly<Record<string, unknown>>;
  readonly initialize?: { readonly appendSystemPrompt?: string };
  readonly answer?: {
    readonly request_id: string;
    readonly subtype: string;
    readonly response?: Readonly<Record<string, unknown>>;
    readonly error?: string;
  };
  readonly grandchild?: number;
}

export interface CliSetupOptions {
  readonly clock?: Clock | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly settings?: Partial<ProviderSettings> | undefined;
}

export interface CliSetup extends Omit<ProgramSetup<Note, Step>, 'living'> {
  settings(more?: Partial<ProviderSettings>): ProviderSettings;
  /** Commands of processes that still live. */
  left(): readonly string[];
}

export const program = (family: Family): string =>
  fileURLToPath(new URL(`../../fixtures/cli-agents/${family}.mjs`, import.meta.url));

export async function cliSetup(
  family: Family,
  { clock = createSystemClock(), environment = {}, settings: general = {} }: CliSetupOptions = {},
): Promise<CliSetup> {
  const settingsOf = (home: string, more: Partial<ProviderSettings> = {}): ProviderSettings => ({
    backend: 'cli-agent',
    dialect: family,
    ...general,
    ...more,
    program: {
      command: process.execPath,
      args: [program(family)],
      ...general.program,
      ...more.program,
      set: { FIXTURE_HOME: home, ...general.program?.set, ...more.program?.set },
    },
  });
  const { living, ...setup } = await programSetup<Note, Step>(
    (parts) => createCliAgentRuntime({ clock, environment: () => ({ ...process.env, ...environment }), ...parts }),
    settingsOf,
  );
  return { ...setup, settings: (more) => settingsOf(setup.directory, more), left: living };
}
