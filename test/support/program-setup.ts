/** A backend over a fixture program, with everything real around it, and words for tests about it. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../src/actors/run/agent-runtime.ts';
import { createProcessTree } from '../../src/adapters/process-tree/process-tree.ts';
import type { AgentRunEvent } from '../../src/machines/run/run-output.ts';
import type { ProviderSettings } from '../../src/machines/run/provider-settings.ts';
import { processesLeft } from '../setup/processes-left.ts';
import { temporaryHome } from './temporary-home.ts';

export interface StartedRun {
  readonly events: readonly AgentRunEvent[];
  readonly result: Promise<AgentRunResult>;
  /** Resolves once an event fits. */
  until(fits: (event: AgentRunEvent) => boolean): Promise<AgentRunEvent>;
}

/** `Note`: what the program writes down, one object each time. `Step`: of what it plays. */
export interface ProgramSetup<Note, Step> {
  readonly runtime: AgentRuntime;
  readonly directory: string;
  readonly workspaceDir: string;
  readonly news: readonly string[];
  /** Writes a scenario down, and resolves with the name of the model that plays it. */
  scenario(...steps: readonly Step[]): Promise<string>;
  start(params?: Partial<AgentRunParams>): StartedRun;
  run(params?: Partial<AgentRunParams>): Promise<AgentRunResult>;
  notes(): readonly Note[];
  /** Commands of processes that still live. */
  living(): readonly string[];
  close(): Promise<void>;
}

/** What every backend over a program is made with. */
interface ProgramParts {
  readonly processTree: ReturnType<typeof createProcessTree>;
  readonly killGraceMs: number;
  readonly onNews: (news: { readonly message: string }) => void;
}

export async function programSetup<Note, Step>(
  backend: (parts: ProgramParts) => AgentRuntime,
  settings: (home: string) => ProviderSettings,
): Promise<ProgramSetup<Note, Step>> {
  const home = await temporaryHome();
  const workspaceDir = join(home.path, 'workspace');
  await mkdir(workspaceDir);
  const news: string[] = [];
  const runtime = backend({
    // What ends processes measures real time, whatever the backend does.
    processTree: createProcessTree({ clock: createSystemClock(), directory: join(home.path, 'processes') }),
    killGraceMs: 300,
    onNews: ({ message }) => news.push(message),
  });
  let scenarios = 0;
  let runs = 0;
  const start = (params: Partial<AgentRunParams> = {}): StartedRun => {
    runs += 1;
    const { onEvent, ...heard } = listening(params.onEvent);
    const asked = params.messages === undefined && params.prompt === undefined ? { prompt: 'Hello?' } : {};
    const result = runtime.run({
      runId: `run_${runs}`,
      sessionId: 'session_1',
      provider: 'agent',
      model: 'default',
      config: { providers: { agent: settings(home.path) } },
      workspaceDir,
      agentDir: home.path,
      modelStepsTaken: 0,
      ...asked,
      ...params,
      onEvent,
    } as AgentRunParams);
    return { ...heard, result };
  };
  const notesFile = join(home.path, 'notes.jsonl');
  return {
    runtime,
    directory: home.path,
    workspaceDir,
    news,
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
    living: () => processesLeft(process.env['TMPDIR'] ?? home.path).map(({ command }) => command),
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
