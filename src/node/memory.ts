/**
 * What the agents of a home know and share: memory, learnings, outcomes, skills, what can be found again, and the files
 * that tell a session about itself.
 */
import { join } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import type { ShellView } from '../actors/artifact/artifact-hook.ts';
import { createArtifactHookSource } from '../actors/artifact/artifact-hook.ts';
import type { SessionEnvironments } from '../actors/environment/session-environment.ts';
import { AgentMemory } from '../actors/memory/agent-memory.ts';
import type { LearningStore } from '../actors/memory/learning-store.ts';
import { createMemoryHookSource } from '../actors/memory/memory-hook-source.ts';
import type { SharedFilesStage } from '../actors/memory/shared-files-stage.ts';
import type { SharedFilesStore } from '../actors/memory/shared-files-store.ts';
import { createCheckRunner } from '../actors/outcome/check-runner.ts';
import { createModelJudge } from '../actors/outcome/model-judge.ts';
import { createOutcomes } from '../actors/outcome/outcome-hook-source.ts';
import type { OutcomeEvaluator } from '../actors/outcome/outcome-evaluator.ts';
import { createPermissionTools } from '../actors/permission/permission-tools.ts';
import type { CommandPlaces, PlaceGuard, PolicyStore, ReadShell } from '../actors/permission/permission-ports.ts';
import type { RetrievalIndex } from '../actors/retrieval/retrieval-index.ts';
import { createRetrievalTools } from '../actors/retrieval/retrieval-tools.ts';
import { createRetrievalHook, Retrieval } from '../actors/retrieval/retrieval.ts';
import type { AuthProfiles } from '../actors/run/auth-profiles.ts';
import type { CandidateHealthStore } from '../actors/run/candidate-health-store.ts';
import { createSessionTools } from '../actors/session/session-tools.ts';
import type { ShellHost } from '../actors/shell/shell-host.ts';
import type { ShellTools } from '../actors/shell/shell-tools.ts';
import type { SkillCatalog } from '../actors/skill/skill-catalog.ts';
import { createSkillTools } from '../actors/skill/skill-tools.ts';
import { createShellRunTool } from '../actors/turn/shell-run-tool.ts';
import type { OutputStore } from '../actors/turn/output-store.ts';
import { createArtifactFiles } from '../adapters/file-tools/artifact-files.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { underLock } from '../adapters/system/process-lock.ts';
import { FileRetrievalIndex } from '../adapters/retrieval-files/file-retrieval-index.ts';
import { FileSkillCatalog } from '../adapters/skill-files/file-skill-catalog.ts';
import { createMemoryFiles } from '../adapters/shared-files/memory-files.ts';
import { memorySectionsOf } from '../machines/memory/memory-sections.ts';
import type { PriceTable } from '../machines/run/prices.ts';
import type { CommandEnvironmentSettings } from '../machines/turn/shell/environment.ts';
import type { HookSource, RuntimeServices } from '../actors/wake/hook-source.ts';
import type { RuntimePorts } from '../runtime.ts';

const SKILLS_FOLDER = 'skills';
const RETRIEVAL_FOLDER = 'retrieval';

export interface MemoryOptions {
  readonly layout: HomeLayout;
  readonly clock: Clock;
  readonly environments: SessionEnvironments;
  /** How commands run: a check goes the same way. */
  readonly commands: {
    readonly host: ShellHost | undefined;
    readonly environment: CommandEnvironmentSettings | undefined;
    readonly keeper: OutputStore | undefined;
  };
  /** The same as those of the gate. */
  readonly gate: {
    readonly readShell: ReadShell;
    readonly policy: PolicyStore;
    readonly places: CommandPlaces;
    readonly guard: PlaceGuard;
    readonly humans: 'reachable' | 'none';
  };
  readonly models: {
    readonly profiles?: AuthProfiles | undefined;
    readonly candidateHealth?: CandidateHealthStore | undefined;
    readonly prices?: PriceTable | undefined;
  };
  readonly shells: (ShellView & Pick<ShellTools, 'leftRunning'>) | undefined;
}

/** What a home's agents know, for programs and the command line. */
export interface HomeMemory {
  readonly memory: AgentMemory;
  readonly sharedFiles: SharedFilesStore;
  readonly learnings: LearningStore;
  readonly skills: SkillCatalog;
  readonly outcomes: OutcomeEvaluator;
  readonly retrieval: Retrieval;
}

export interface NodeMemory {
  readonly ports: Pick<RuntimePorts, 'hookSources' | 'memory'>;
  /** Once the runtime is there. */
  opened(): HomeMemory;
}

export function nodeMemory(options: MemoryOptions): NodeMemory {
  const { layout, clock } = options;
  const agentDirectory = (agentId: string): string => layout.agentDirectory(agentId);
  const files = createMemoryFiles({ agentDirectory, clock, exclusively: underLock });
  const memory = new AgentMemory(files);
  const skills = new FileSkillCatalog({
    directory: join(layout.home, SKILLS_FOLDER),
    agentDirectory: (agentId) => join(agentDirectory(agentId), SKILLS_FOLDER),
  });
  let outcomes: OutcomeEvaluator | undefined;
  let retrieval: Retrieval | undefined;
  // In this order after a wake: what is evaluated decides what is promoted, and what was learned is to be found.
  const hookSources: RuntimePorts['hookSources'] = [
    (services) => {
      const made = outcomesOf(options, services, files.stage);
      outcomes = made.evaluator;
      return made;
    },
    (services) => createMemoryHookSource(files, services),
    (services) => {
      const index = new FileRetrievalIndex({
        folderOf: (agentId) => join(layout.agentDirectory(agentId), RETRIEVAL_FOLDER),
        onTrouble: (error) => services.onListenerError(error, 'listener'),
      });
      retrieval = retrievalOf({ clock, index, memory, learnings: files.learnings, services });
      const tools = [
        ...createRetrievalTools({ retrieval, store: services.store }),
        ...createSessionTools(services, { retrieval }),
      ];
      return { tools, hook: createRetrievalHook(retrieval), close: () => index.close() };
    },
    () => ({
      tools: [
        ...createSkillTools({ skills, namedBy: (agent) => agent.skills }),
        ...createPermissionTools({ clock, ...options.gate }),
      ],
    }),
    createArtifactHookSource({ files: createArtifactFiles(), shells: options.shells }),
  ];
  return {
    ports: { hookSources, memory },
    opened() {
      if (outcomes === undefined || retrieval === undefined)
        throw new TypeError('the memory of a home was asked for before its runtime was made');
      return { memory, sharedFiles: files.sharedFiles, learnings: files.learnings, skills, outcomes, retrieval };
    },
  };
}

function outcomesOf(
  { clock, environments, commands, gate: { readShell }, models, shells }: MemoryOptions,
  services: RuntimeServices,
  stage: SharedFilesStage,
): HookSource & { readonly evaluator: OutcomeEvaluator } {
  const shellRun = createShellRunTool(services.tasks, { clock, ...commands });
  return createOutcomes({
    ...services,
    readShell,
    environments,
    stage,
    leftRunning: shells === undefined ? undefined : (session) => shells.leftRunning(session),
    checks: createCheckRunner(shellRun),
    judge: createModelJudge({ ...services, ...models }),
  });
}

interface RetrievalParts {
  readonly clock: Clock;
  readonly index: RetrievalIndex;
  readonly memory: AgentMemory;
  readonly learnings: LearningStore;
  readonly services: RuntimeServices;
}

function retrievalOf({ clock, index, memory, learnings, services }: RetrievalParts): Retrieval {
  return new Retrieval({
    clock,
    index,
    sources: {
      sessions: services.sessions,
      learnings: { learnings: (agentId) => learnings.list(agentId) },
      memory: { memoryEntries: async (agentId) => memorySectionsOf(await memory.read(agentId)) },
    },
    onTrouble: (error) => services.onListenerError(error, 'listener'),
  });
}
