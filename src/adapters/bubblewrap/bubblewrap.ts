/**
 * Sandboxes by bubblewrap: namespaces of their own, a read-only system, the declared mounts, and nothing else of the
 * host.
 */
import type {
  CommandSandbox,
  SandboxAvailability,
  Sandboxes,
  SandboxScope,
} from '../../actors/environment/command-sandbox.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { findBubblewrap } from './bubblewrap-availability.ts';
import type { FoundBubblewrap } from './bubblewrap-availability.ts';
import { boundMounts } from './bound-mounts.ts';
import { hiddenPlaces } from './hidden-places.ts';
import { descriptorCloser } from './open-descriptors.ts';
import { sandboxArguments } from './sandbox-arguments.ts';
import { commandLine, programLine } from './sandbox-line.ts';
import { viewSystem } from './system-view.ts';
import type { SystemView } from './system-view.ts';

/**
 * How long what was seen of the system's secrets is gone by, in milliseconds: a file that comes later is masked then.
 */
const SYSTEM_VIEW_MS = 60_000;

export interface BubblewrapOptions {
  /**
   * What no sandbox shows, wherever it lies, such as the home of Wakechart and the keys of people. Absolute; what is
   * not there is left out.
   */
  readonly hidden?: readonly string[] | undefined;
  /**
   * Folders with programs that every sandbox shows, to be read only, besides those of the system, of Node and of git.
   * Absolute.
   */
  readonly programs?: readonly string[] | undefined;
  /** What /tmp of a sandbox holds, in bytes, where this bubblewrap can bound it. Default 1 GiB. */
  readonly tmpBytes?: number | undefined;
  /** Where the program is. Default: searched for in PATH. */
  readonly program?: string | undefined;
}

const DEFAULT_TMP_BYTES = 1_073_741_824;

export function createBubblewrap(options: BubblewrapOptions = {}): Sandboxes {
  let checking: Promise<FoundBubblewrap> | undefined;
  let viewed: { readonly at: number; readonly view: Promise<SystemView> } | undefined;
  const view = (): Promise<SystemView> => {
    if (viewed === undefined || performance.now() - viewed.at > SYSTEM_VIEW_MS) {
      viewed = {
        at: performance.now(),
        view: viewSystem({ programs: options.programs ?? [], hidden: options.hidden ?? [] }),
      };
      viewed.view.catch(() => {
        viewed = undefined;
      });
    }
    return viewed.view;
  };
  const check = (): Promise<FoundBubblewrap> => {
    checking ??= findBubblewrap({
      program: options.program,
      bound: async () => ({ view: await view(), hidden: await hiddenPlaces(options.hidden ?? []) }),
    });
    return checking;
  };
  return {
    async availability(): Promise<SandboxAvailability> {
      const found = await check();
      return found.kind === 'available' ? { kind: 'available', version: found.version } : found;
    },
    async open(scope) {
      const found = await check();
      if (found.kind === 'missing')
        throw new RuntimeError('SANDBOX_UNAVAILABLE', `commands cannot be shut in here: ${found.reason}`, {
          category: 'process',
          hint: found.hint,
        });
      return openSandbox(scope, { found, view: await view(), options });
    },
  };
}

interface Surroundings {
  readonly found: Extract<FoundBubblewrap, { readonly kind: 'available' }>;
  readonly view: SystemView;
  readonly options: BubblewrapOptions;
}

async function openSandbox(
  { mounts, network, workspaceDirectory, maxFileBytes }: SandboxScope,
  { found, view, options }: Surroundings,
): Promise<CommandSandbox> {
  const { program, abilities, stat, filter } = found;
  const { hidden: named = [], tmpBytes = DEFAULT_TMP_BYTES } = options;
  // Mounts name what every link leads to.
  const workspace = mounts.find(({ kind }) => kind === 'workspace')?.directory ?? workspaceDirectory;
  const hidden = await hiddenPlaces(named);
  const [bound, closer] = await Promise.all([
    boundMounts({ mounts, workspaceDirectory: workspace, hidden, view, network }),
    descriptorCloser(),
  ]);
  const line = {
    closer,
    program,
    filter,
    shut: sandboxArguments({ abilities, view, network, tmpBytes, bound }),
    stat,
    bound,
    maxFileBytes,
  };
  return {
    kind: 'bubblewrap',
    wrapCommand: (command, cwd) => commandLine({ ...line, cwd }, command),
    wrapProgram: (wrapped, cwd) => programLine({ ...line, cwd }, wrapped),
  };
}
