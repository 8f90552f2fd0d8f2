/** The backend over the fixture agent, with everything real around it, and words for tests about it. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { RunPermissionAnswer, RunPermissionRequest } from '../../../src/actors/run/agent-runtime.ts';
import { createAcpAgentRuntime } from '../../../src/adapters/acp/acp-agent-runtime.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { Abilities, Step } from '../../fixtures/acp-agents/agent.mjs';
import { programSetup } from '../../support/program-setup.ts';
import type { ProgramSetup } from '../../support/program-setup.ts';

export { textOf, told } from '../../support/program-setup.ts';

/** What the fixture wrote down, one object each time. */
export interface Note {
  readonly pid: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly initialize?: { readonly clientCapabilities: unknown };
  readonly authenticate?: { readonly methodId: string };
  readonly newSession?: { readonly cwd: string; readonly mcpServers: readonly unknown[] };
  readonly takenUp?: string;
  readonly mode?: string;
  readonly olderModel?: string;
  readonly setting?: { readonly configId: string; readonly value: unknown };
  readonly prompt?: readonly { readonly type: string; readonly text?: string }[];
  readonly cancel?: string;
  readonly grandchild?: number;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface AcpSetupOptions {
  readonly clock?: Clock | undefined;
  readonly abilities?: Abilities | undefined;
  readonly settings?: Partial<ProviderSettings> | undefined;
  readonly runtime?: Partial<Parameters<typeof createAcpAgentRuntime>[0]> | undefined;
}

export interface AcpSetup extends Omit<ProgramSetup<Note, Step>, 'living'> {
  settings(abilities?: Abilities, more?: Partial<ProviderSettings>): ProviderSettings;
  /** What the fixture was answered to this method. */
  answersTo(method: string): readonly Note[];
  /** Commands of processes that still live, and process trees that are still on record. */
  left(): Promise<readonly string[]>;
}

const PROGRAM = fileURLToPath(new URL('../../fixtures/acp-agents/agent.mjs', import.meta.url));

const DEFAULT_ABILITIES: Abilities = { load: true, resume: true };

export async function acpSetup({
  clock = createSystemClock(),
  abilities: general = DEFAULT_ABILITIES,
  settings: generalSettings = {},
  runtime: options = {},
}: AcpSetupOptions = {}): Promise<AcpSetup> {
  const settingsOf = (
    home: string,
    abilities: Abilities = general,
    more: Partial<ProviderSettings> = {},
  ): ProviderSettings => ({
    backend: 'acp',
    ...generalSettings,
    ...more,
    program: {
      command: process.execPath,
      args: [PROGRAM],
      ...more.program,
      set: { FIXTURE_HOME: home, FIXTURE_AGENT: JSON.stringify(abilities), ...more.program?.set },
    },
    options: { secretVariable: 'FIXTURE_KEY', ...generalSettings.options, ...more.options },
  });
  const { living, ...setup } = await programSetup<Note, Step>(
    (parts) => createAcpAgentRuntime({ clock, ...parts, ...options }),
    settingsOf,
  );
  return {
    ...setup,
    settings: (abilities, more) => settingsOf(setup.directory, abilities, more),
    answersTo: (method) => setup.notes().filter((note) => note.method === method),
    left: async () => [...living(), ...(await readdir(join(setup.directory, 'processes')).catch(() => []))],
  };
}

/** A person who answers each request like this, and what was asked. */
export function answering(decide: (request: RunPermissionRequest) => RunPermissionAnswer['decision'] = () => 'allow'): {
  readonly asked: RunPermissionRequest[];
  readonly requestPermission: (request: RunPermissionRequest) => Promise<RunPermissionAnswer>;
} {
  const asked: RunPermissionRequest[] = [];
  return {
    asked,
    requestPermission: ({ signal: _signal, ...request }) => {
      asked.push(request);
      return Promise.resolve(
        decide(request) === 'allow' ? { decision: 'allow' } : { decision: 'deny', message: 'Not today.' },
      );
    },
  };
}
