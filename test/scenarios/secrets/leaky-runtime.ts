/**
 * A runtime over a home with everything real: vaults, commands, shells, servers of tools, requests; with redaction, or
 * (to see that the search finds anything) without.
 */
import { join } from 'node:path';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import type { SessionSecrets } from '../../../src/actors/environment/session-secrets.ts';
import { createSessionEnvironments } from '../../../src/actors/environment/session-environments.ts';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { createShellTools } from '../../../src/actors/shell/shell-tools.ts';
import { TaskOutputFeed } from '../../../src/actors/shell/task-output-feed.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createVaults } from '../../../src/actors/vault/open-vaults.ts';
import type { SessionVaults } from '../../../src/actors/vault/open-vaults.ts';
import { createVaultListTool } from '../../../src/actors/vault/vault-list-tool.ts';
import { FileAgentCatalog } from '../../../src/adapters/agents/file-agent-catalog.ts';
import { FileEnvironmentCatalog } from '../../../src/adapters/environment-files/file-environment-catalog.ts';
import { createFileMountPlaces } from '../../../src/adapters/environment-files/file-mount-places.ts';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { createOutputFiles } from '../../../src/adapters/file-tools/output-files.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { createHttpRequestTool } from '../../../src/adapters/http-request/http-request-tool.ts';
import { createMcpToolSource } from '../../../src/adapters/mcp/mcp-tool-source.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createShellHost } from '../../../src/adapters/shell/shell-host.ts';
import { createKeychainCommand } from '../../../src/adapters/auth-files/keychain-command.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import { FileVaultCatalog, readSecretFile } from '../../../src/adapters/vault-files/file-vault-catalog.ts';
import { createRuntime } from '../../../src/runtime.ts';
import type { Runtime } from '../../../src/runtime.ts';

export interface LeakyOptions {
  readonly home: string;
  readonly redacts: boolean;
  readonly runtimes: readonly AgentRuntime[];
}

export function openLeakyRuntime({ home, redacts, runtimes }: LeakyOptions): Runtime {
  const clock = createSystemClock();
  const layout = new HomeLayout(home);
  const opened = createVaults({
    clock,
    catalog: new FileVaultCatalog({ directory: join(home, 'vaults') }),
    sources: {
      environment: () => process.env,
      runCommand: createKeychainCommand({ clock, environment: process.env }),
      readFile: readSecretFile,
    },
  });
  const vaults = redacts ? opened : telling(opened);
  const processTree = createProcessTree({ clock, directory: join(home, 'processes') });
  const redactionOf = () => vaults.known.bytes();
  const logDirectory = join(home, 'task-logs');
  const tasks = new BackgroundTaskManager({
    clock,
    runners: { process: createManagedShellProcessRunner({ processTree, clock, logDirectory, redactionOf }) },
  });
  const feed = new TaskOutputFeed();
  const shellTasks = new BackgroundTaskManager({
    clock,
    runners: {
      process: createManagedShellProcessRunner({
        processTree,
        clock,
        onOutput: feed.take,
        environment: () => ({}),
        redactionOf,
      }),
    },
  });
  const host = createShellHost();
  const shells = createShellTools({ tasks: shellTasks, feed, host, clock });
  const outputs = createOutputFiles({
    workspaceDirectory: (identity) => layout.workspaceDirectory(identity),
    redacted: (_session, text) => vaults.known.text(text),
  });
  const onTrouble = (): void => undefined;
  return createRuntime({
    clock,
    store: new FileEventStore({ home, clock }),
    directories: layout,
    agents: new FileAgentCatalog({ agentsDirectory: layout.agents }),
    ids: createIdSource({ clock }),
    runtimes,
    tasks,
    processTree,
    shellHost: host,
    tools: [
      ...createFileTools(),
      ...shells.tools,
      createVaultListTool(),
      createHttpRequestTool({ clock, userAgent: 'tests' }),
    ],
    outputs,
    toolSource: createMcpToolSource({
      processTree,
      clock,
      files: outputs,
      clientInfo: { name: 'tests', version: '0.0.0' },
    }),
    environments: createSessionEnvironments({
      catalog: new FileEnvironmentCatalog({ home }),
      places: createFileMountPlaces({ layout }),
      vaults,
      onTrouble,
    }),
    closeTools: async (reason) => {
      await shells.close();
      await shellTasks.shutdown(reason);
    },
    onListenerError: onTrouble,
  });
}

/** Gives secrets out and takes none back. */
function telling(vaults: SessionVaults): SessionVaults {
  return {
    known: NO_SECRETS,
    redactText: (text) => text,
    learn: () => vaults.learn(),
    async open(session, names): Promise<SessionSecrets> {
      const secrets = await vaults.open(session, names);
      return {
        names: secrets.names,
        forCommand: (name) => secrets.forCommand(name),
        forHost: (name, host) => secrets.forHost(name, host),
        text: (text) => text,
        json: (value) => value,
        drafts: (drafts) => drafts,
        bytes: () => undefined,
      };
    },
  };
}
