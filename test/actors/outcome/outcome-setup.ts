/**
 * A setup whose sessions have outcomes: commands are real ones, models are functions, and the environment is whatever
 * the test says.
 */
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createOutcomes } from '../../../src/actors/outcome/outcome-hook-source.ts';
import type { OutcomeHookSource } from '../../../src/actors/outcome/outcome-hook-source.ts';
import { createCheckRunner } from '../../../src/actors/outcome/check-runner.ts';
import type { CheckRunner } from '../../../src/actors/outcome/check-runner.ts';
import { createModelJudge } from '../../../src/actors/outcome/model-judge.ts';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import type { SessionEnvironments } from '../../../src/actors/environment/session-environment.ts';
import { createPermissionTools } from '../../../src/actors/permission/permission-tools.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createShellRunTool } from '../../../src/actors/turn/shell-run-tool.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import { createWorkspaceStage } from '../../../src/adapters/shared-files/workspace-stage.ts';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import type { EnvironmentDefinition } from '../../../src/machines/environment/environment-definition.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';

export interface OutcomeSetup {
  readonly setup: TurnSetup;
  readonly outcomes: OutcomeHookSource;
  close(): Promise<void>;
}

export interface OutcomeSetupOptions extends TurnSetupOptions {
  /** In place of commands that run. */
  readonly checks?: CheckRunner;
}

/** An agent with everything that these tests need. */
export const TOOLS = { tools: ['outcome', 'shell_run', 'permission_describe'] };

export async function openOutcomeSetup(
  evaluation: EnvironmentDefinition['evaluation'] = {},
  { checks, ...more }: OutcomeSetupOptions = {},
): Promise<OutcomeSetup> {
  const opened: OutcomeHookSource[] = [];
  const environments: SessionEnvironments = {
    idFor: () => 'host',
    bind: async (_session, agent) => ({ environmentId: 'host', agent }),
    require: async () => undefined,
    enter: async ({ agent }) => ({
      agent,
      environment: {
        definition: { ...HOST_ENVIRONMENT, evaluation },
        fingerprint: 'f',
        within: [],
        mounts: [],
        secrets: NO_SECRETS,
      },
    }),
  };
  const records = await temporaryHome();
  const clock = createSystemClock();
  const tasks = new BackgroundTaskManager({
    runners: {
      process: createManagedShellProcessRunner({
        clock,
        processTree: createProcessTree({ clock, directory: records.path }),
      }),
    },
  });
  const setup = await openTurnSetup({
    tasks,
    environments,
    readShell,
    hookSources: [
      (services) => {
        const { runtimes, runConfig, ids, onListenerError } = services;
        const outcomes = createOutcomes({
          ...services,
          stage: createWorkspaceStage(),
          environments,
          readShell,
          checks: checks ?? createCheckRunner(createShellRunTool(tasks)),
          judge: createModelJudge({ runtimes, runConfig, clock, ids, onListenerError }),
        });
        opened.push(outcomes);
        const permissions = createPermissionTools({
          clock,
          readShell,
          policy: undefined,
          places: undefined,
          guard: undefined,
          humans: 'reachable',
        });
        return { ...outcomes, tools: [...outcomes.tools, ...permissions] };
      },
    ],
    ...more,
  });
  const [outcomes] = opened;
  if (outcomes === undefined) throw new Error('the runtime joined nobody');
  const close = async (): Promise<void> => {
    await setup[Symbol.asyncDispose]();
    await records.remove();
  };
  return { setup, outcomes, close };
}
