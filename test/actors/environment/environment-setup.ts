/**
 * A turn setup over a home with environments in real files. Its sandbox only says that it is one: what it shuts in is
 * for tests of that.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxScope, Sandboxes } from '../../../src/actors/environment/command-sandbox.ts';
import { createSessionEnvironments } from '../../../src/actors/environment/session-environments.ts';
import type { SessionEnvironmentPorts } from '../../../src/actors/environment/session-environments.ts';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import { FileEnvironmentCatalog } from '../../../src/adapters/environment-files/file-environment-catalog.ts';
import { createFileMountPlaces } from '../../../src/adapters/environment-files/file-mount-places.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';

export interface EnvironmentSetup {
  readonly setup: TurnSetup;
  readonly catalog: FileEnvironmentCatalog;
  /** What sandboxes were opened for. */
  readonly opened: SandboxScope[];
  /** The vaults that were opened, wake by wake. */
  readonly vaults: (readonly string[])[];
  readonly environments: ReturnType<typeof createSessionEnvironments>;
  /** Puts a file there, or takes it away. */
  put(name: string, text: string | undefined): Promise<void>;
}

export async function openEnvironmentSetup(
  options: TurnSetupOptions = {},
  ports: Partial<SessionEnvironmentPorts> = {},
): Promise<EnvironmentSetup> {
  const setup = await openTurnSetup(options);
  const { home } = setup.layout;
  const opened: SandboxScope[] = [];
  const vaults: (readonly string[])[] = [];
  const catalog = new FileEnvironmentCatalog({ home });
  const sandboxes: Sandboxes = {
    availability: async () => ({ kind: 'available', version: '1' }),
    async open(scope) {
      opened.push(scope);
      return { kind: 'bubblewrap', wrapCommand: (command) => command, wrapProgram: (program) => program };
    },
  };
  const environments = createSessionEnvironments({
    catalog,
    places: createFileMountPlaces({ layout: setup.layout }),
    sandboxes,
    vaults: {
      async open(_session, names) {
        vaults.push(names);
        return NO_SECRETS;
      },
    },
    onTrouble: (error) => void setup.reported.push(error),
    ...ports,
  });
  setup.open({ environments });
  return {
    setup,
    catalog,
    opened,
    vaults,
    environments,
    async put(name, text) {
      const folder = join(home, 'environments');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (text === undefined) await rm(join(folder, `${name}.yaml`));
      else await writeFile(join(folder, `${name}.yaml`), text, { mode: 0o600 });
    },
  };
}
