/** The backend over the fixture agent, with everything real around it, and words for tests about it. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type {
  AgentRunParams,
  AgentRunResult,
  AgentRuntime,
  RunPermissionAnswer,
  RunPermissionRequest,
} from '../../../src/actors/run/agent-runtime.ts';
import { createAcpAgentRuntime } from '../../../src/adapters/acp/acp-agent-runtime.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import type { Abilities, Step } from '../../fixtures/acp-agents/agent.mjs';
import { processesLeft } from '../../setup/processes-left.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

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

export interface StartedRun {
  readonly events: readonly AgentRunEvent[];
  readonly result: Promise<AgentRunResult>;
  /** Resolves once an event fits. */
  until(fits: (event: AgentRunEvent) => boolean): Promise<AgentRunEvent>;
}

export interface AcpSetup {
  readonly runtime: AgentRuntime;
  readonly directory: string;
  readonly workspaceDir: string;
  readonly news: readonly string[];
  settings(abilities?: Abilities, more?: Partial<ProviderSettings>): ProviderSettings;
  /** Writes a scenario down, and resolves with the name of the model that plays it. */
  scenario(...steps: readonly Step[]): Promise<string>;
  start(params?: Partial<AgentRunParams>): StartedRun;
  run(params?: Partial<AgentRunParams>): Promise<AgentRunResult>;
  notes(): readonly Note[];
  /** What the fixture was answered to this method. */
  answersTo(method: string): readonly Note[];
  /** Commands of processes that still live, and process trees that are still on record. */
  left(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../fixtures/acp-agents/agent.mjs', import.meta.url));

const DEFAULT_ABILITIES: Abilities = { load: true, resume: true };

export async function acpSetup({
  clock = createSystemClock(),
  abilities: general = DEFAULT_ABILITIES,
  settings: generalSettings = {},
  runtime: options = {},
}: AcpSetupOptions = {}): Promise<AcpSetup> {
  const home = await temporaryHome();
  const workspaceDir = join(home.path, 'workspace');
  await mkdir(workspaceDir);
  const news: string[] = [];
  const runtime = createAcpAgentRuntime({
    clock,
    // What ends processes measures real time, whatever the backend does.
    processTree: createProcessTree({ clock: createSystemClock(), directory: join(home.path, 'processes') }),
    killGraceMs: 300,
    onNews: ({ message }) => news.push(message),
    ...options,
  });
  let scenarios = 0;
  let runs = 0;
  const settings = (abilities: Abilities = general, more: Partial<ProviderSettings> = {}): ProviderSettings => ({
    backend: 'acp',
    ...generalSettings,
    ...more,
    program: {
      command: process.execPath,
      args: [PROGRAM],
      ...more.program,
      set: { FIXTURE_HOME: home.path, FIXTURE_AGENT: JSON.stringify(abilities), ...more.program?.set },
    },
    options: { secretVariable: 'FIXTURE_KEY', ...generalSettings.options, ...more.options },
  });
  const start = (params: Partial<AgentRunParams> = {}): StartedRun => {
    runs += 1;
    const heard = listening(params.onEvent);
    const asked = params.messages === undefined && params.prompt === undefined ? { prompt: 'Hello?' } : {};
    const base = {
      runId: `run_${runs}`,
      sessionId: 'session_1',
      provider: 'agent',
      model: 'default',
      config: { providers: { agent: settings() } },
      workspaceDir,
      agentDir: home.path,
      modelStepsTaken: 0,
    };
    const result = runtime.run({ ...base, ...asked, ...params, onEvent: heard.onEvent } as AgentRunParams);
    return { events: heard.events, until: heard.until, result };
  };
  const notesFile = join(home.path, 'notes.jsonl');
  const notes = (): readonly Note[] =>
    existsSync(notesFile)
      ? readFileSync(notesFile, 'utf8')
          .trim()
          .split('\n')
          .map((line): Note => JSON.parse(line) as Note)
      : [];
  return {
    runtime,
    directory: home.path,
    workspaceDir,
    news,
    settings,
    start,
    notes,
    run: (params) => start(params).result,
    answersTo: (method) => notes().filter((note) => note.method === method),
    scenario: async (...steps) => {
      scenarios += 1;
      await writeFile(join(home.path, `scenario-${scenarios}.json`), JSON.stringify(steps));
      return `scenario-${scenarios}`;
    },
    left: async () => [
      ...processesLeft(process.env['TMPDIR'] ?? home.path).map(({ command }) => command),
      ...(await readdir(join(home.path, 'processes')).catch(() => [])),
    ],
    close: () => home.remove(),
  };
}

function listening(
  onEvent: AgentRunParams['onEvent'],
): Pick<StartedRun, 'events' | 'until'> & { readonly onEvent: (event: AgentRunEvent) => void } {
  const events: AgentRunEvent[] = [];
  const listeners = new Set<() => void>();
  return {
    events,
    onEvent(event) {
      events.push(event);
      onEvent?.(event);
      for (const listener of listeners) listener();
    },
    until: (fits) =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = events.find(fits);
          if (found === undefined) return;
          listeners.delete(check);
          resolve(found);
        };
        listeners.add(check);
        check();
      }),
  };
}

/** Somebody who answers each request like this, and what was asked. */
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
