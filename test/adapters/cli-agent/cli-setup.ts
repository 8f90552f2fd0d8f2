/** The backend over fixture programs, with everything real around it, and words for tests about it. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { createCliAgentRuntime } from '../../../src/adapters/cli-agent/cli-agent-runtime.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import type { Step } from '../../fixtures/cli-agents/scenario.mjs';
import { processesLeft } from '../../setup/processes-left.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

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

export interface StartedRun {
  readonly events: readonly AgentRunEvent[];
  readonly result: Promise<AgentRunResult>;
  /** Resolves once an event fits. */
  until(fits: (event: AgentRunEvent) => boolean): Promise<AgentRunEvent>;
}

export interface CliSetup {
  readonly runtime: AgentRuntime;
  readonly directory: string;
  readonly workspaceDir: string;
  readonly news: readonly string[];
  settings(more?: Partial<ProviderSettings>): ProviderSettings;
  /** Writes a scenario down, and resolves with the name of the model that plays it. */
  scenario(...steps: readonly Step[]): Promise<string>;
  start(params?: Partial<AgentRunParams>): StartedRun;
  run(params?: Partial<AgentRunParams>): Promise<AgentRunResult>;
  notes(): readonly Note[];
  /** Commands of processes that still live. */
  left(): readonly string[];
  close(): Promise<void>;
}

export const program = (family: Family): string =>
  fileURLToPath(new URL(`../../fixtures/cli-agents/${family}.mjs`, import.meta.url));

export async function cliSetup(
  family: Family,
  { clock = createSystemClock(), environment = {}, settings: general = {} }: CliSetupOptions = {},
): Promise<CliSetup> {
  const home = await temporaryHome();
  const workspaceDir = join(home.path, 'workspace');
  await mkdir(workspaceDir);
  const news: string[] = [];
  const runtime = createCliAgentRuntime({
    clock,
    // What ends processes measures real time, whatever the backend does.
    processTree: createProcessTree({ clock: createSystemClock(), directory: join(home.path, 'processes') }),
    environment: () => ({ ...process.env, ...environment }),
    killGraceMs: 300,
    onNews: ({ message }) => news.push(message),
  });
  let scenarios = 0;
  let runs = 0;
  const settings = (more: Partial<ProviderSettings> = {}): ProviderSettings => ({
    backend: 'cli-agent',
    dialect: family,
    ...general,
    ...more,
    program: {
      command: process.execPath,
      args: [program(family)],
      ...general.program,
      ...more.program,
      set: { FIXTURE_HOME: home.path, ...general.program?.set, ...more.program?.set },
    },
  });
  const start = (params: Partial<AgentRunParams> = {}): StartedRun => {
    runs += 1;
    const events: AgentRunEvent[] = [];
    const listeners = new Set<() => void>();
    const asked = params.messages === undefined && params.prompt === undefined ? { prompt: 'Hello?' } : {};
    const result = runtime.run({
      runId: `run_${runs}`,
      sessionId: 'session_1',
      provider: 'agent',
      model: 'default',
      config: { providers: { agent: settings() } },
      workspaceDir,
      agentDir: home.path,
      modelStepsTaken: 0,
      ...asked,
      ...params,
      onEvent: (event) => {
        events.push(event);
        params.onEvent?.(event);
        for (const listener of listeners) listener();
      },
    } as AgentRunParams);
    const until = (fits: (event: AgentRunEvent) => boolean): Promise<AgentRunEvent> =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = events.find(fits);
          if (found === undefined) return;
          listeners.delete(check);
          resolve(found);
        };
        listeners.add(check);
        check();
      });
    return { events, result, until };
  };
  const notesFile = join(home.path, 'notes.jsonl');
  return {
    runtime,
    directory: home.path,
    workspaceDir,
    news,
    settings,
    start,
    run: (params) => start(params).result,
    scenario: async (...steps) => {
      scenarios += 1;
      await writeFile(join(home.path, `scenario-${scenarios}.json`), JSON.stringify(steps));
      return `scenario-${scenarios}`;
    },
    notes: () =>
      existsSync(notesFile)
        ? readFileSync(notesFile, 'utf8')
            .trim()
            .split('\n')
            .map((line): Note => JSON.parse(line) as Note)
        : [],
    left: () => processesLeft(process.env['TMPDIR'] ?? home.path).map(({ command }) => command),
    close: () => home.remove(),
  };
}

/** The text of the payloads. */
export const textOf = ({ payloads }: AgentRunResult): string =>
  payloads.flatMap((payload) => (payload.type === 'text' ? [payload.text] : [])).join('');

/** The events in short: `lifecycle start`, `assistant text Hello`, `tool requested Bash`. */
export const told = (events: readonly AgentRunEvent[]): string[] =>
  events.map(({ stream, data }) => {
    const parts =
      stream === 'assistant'
        ? [data.kind, data.text]
        : [data.phase, ...('name' in data ? [data.name] : []), ...('outcome' in data ? [data.outcome] : [])];
    return [stream, ...parts].join(' ');
  });
