/**
 * One process task in the foreground: its output goes where ours goes, our input goes to it, and it ends when we are
 * told to.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../actors/task/background-task-manager.ts';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import { ShutdownHooks } from '../../actors/inspection/runtime-inspection.ts';
import type { RuntimeInspection } from '../../actors/inspection/runtime-inspection.ts';
import { createManagedShellProcessRunner } from '../../adapters/shell/shell-runner.ts';
import type { OnShellOutput } from '../../adapters/shell/shell-output.ts';
import { homeProcesses } from '../../node/tasks.ts';
import { tellOfTasks } from '../../node/tasks-elsewhere.ts';
import { NO_SECRETS_KNOWN } from '../inspect/opened-source.ts';
import type { InspectedSecrets } from '../inspect/opened-source.ts';

export interface ForegroundOptions {
  /** Absolute. */
  readonly home: string;
  readonly onOutput: OnShellOutput;
  /** The command has ended, or is about to be ended: what is left of its output is little. */
  readonly onEnding: () => void;
  /**
   * What of the home is taken out of what others are shown: its output goes where ours goes as it is. Default: nothing
   * is known of it
   */
  readonly secrets?: InspectedSecrets | undefined;
  /** Of the watchdogs. Default: the system's. */
  readonly watchdogClock?: Clock | undefined;
}

export interface Foreground {
  readonly tasks: BackgroundTaskManager;
  readonly processTree: ProcessTree;
  readonly inspection: RuntimeInspection;
  /** Ends the task, and then its inspector. */
  readonly shutdown: () => Promise<void>;
  /** Ends every process of the task without waiting for it to do so by itself. */
  readonly kill: () => void;
}

export function openForeground({
  home,
  onOutput,
  onEnding,
  secrets = NO_SECRETS_KNOWN,
  watchdogClock,
}: ForegroundOptions): Foreground {
  const clock = createSystemClock();
  const { hostLife, processTree } = homeProcesses(home, clock);
  const trees = new Set<TrackedProcessTree>();
  const watched: ProcessTree = {
    prepare: async (work) => {
      const tree = watchedTree(await processTree.prepare(work), onEnding);
      trees.add(tree);
      return tree;
    },
    reconcile: (options) => processTree.reconcile(options),
    adopted: (tag) => processTree.adopted(tag),
  };
  const process = createManagedShellProcessRunner({ processTree: watched, clock, onOutput });
  const tasks = new BackgroundTaskManager({ runners: { process }, clock: watchdogClock ?? clock });
  tellOfTasks(hostLife, [tasks]);
  const hooks = new ShutdownHooks();
  return {
    tasks,
    processTree,
    inspection: {
      systems: [{ label: 'the command', tasks }],
      clock,
      redact: secrets.redact ?? ((text) => text),
      learnSecrets: () => Promise.resolve(secrets.unknownSecrets),
      prices: {},
      processTree,
      hasEnded: () => hooks.isOver,
      onShutdown: (close) => hooks.add(close),
      onRest: (read) => hooks.addReader(read),
    },
    shutdown: async () => {
      hooks.begin();
      try {
        await tasks.shutdown();
        await hooks.readLast();
      } finally {
        await hooks.close();
        await hostLife.close();
      }
    },
    kill: () => {
      // The caller that waits for the end of the tree hears what went wrong with it.
      for (const tree of trees) tree.end({ graceMs: 0 }).catch(() => undefined);
    },
  };
}

function watchedTree(tree: TrackedProcessTree, onEnding: () => void): TrackedProcessTree {
  return {
    tag: tree.tag,
    launch: (launch) => tree.launch(launch),
    attach: (pid) => tree.attach(pid),
    survivors: () => tree.survivors(),
    end: (options) => {
      onEnding();
      return tree.end(options);
    },
  };
}
