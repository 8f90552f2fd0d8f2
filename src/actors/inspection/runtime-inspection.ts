/**
 * What a runtime lets an inspector attach to: its systems of actors, and its end. It keeps nothing until an inspector
 * attaches.
 */
import type { Clock } from '../clock/clock.ts';
import type { Fleet } from './fleet.ts';
import type { FolderChanges } from './folder-changes.ts';
import type { LackedHere } from '../workspace-copy/lacked-here.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { SpokenWords } from '../words/live-words.ts';
import type { ProcessTree } from '../task/process-tree.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { TextRedaction } from '../../machines/vault/text-redaction.ts';

export interface InspectedFolders {
  readonly folders: FolderChanges;
  /** The folder in which a session works, absolute; it is not made for being checked. */
  readonly workspaceOf: (session: SessionState) => string;
}

export interface RuntimeInspection {
  /**
   * Each is the root of a system of actors of its own: tasks and wakes, jobs, wakes that have processes of their own,
   * and what tools keep running. Its label says what lives in it, in a few words.
   */
  readonly systems: readonly { readonly label: string; readonly tasks: BackgroundTaskManager }[];
  readonly clock: Clock;
  /** Absolute path of the home that it keeps its sessions in. Absent: a store of another kind. */
  readonly home?: string | undefined;
  /** Takes every secret out of a text that is known in this process. */
  readonly redact: TextRedaction;
  /**
   * Makes `redact` know the secrets of all vaults that can be had without running a program. Absent: there are no
   * vaults. @returns the others, by name
   */
  readonly learnSecrets?: (() => Promise<readonly string[]>) | undefined;
  /** What is said in its wakes, and in those elsewhere that are followed here. Absent: it wakes no session. */
  readonly live?: SpokenWords | undefined;
  /** Names this process in the logs. */
  readonly owner?: string | undefined;
  /** In US dollars per million tokens, before the known ones. */
  readonly prices: PriceTable;
  /** Owns the processes of tasks. */
  readonly processTree?: Pick<ProcessTree, 'reconcile' | 'usageOf'> | undefined;
  /** How a command names the store, without a password. Absent: it lies in the home. */
  readonly storeWord?: string | undefined;
  /** What a session needs and this process has not got. Absent: it is unknown. */
  readonly lackedHere?: LackedHere | undefined;
  /** The workers over the store. Absent: others are unknown. */
  readonly fleet?: Fleet | undefined;
  /** How to see what sessions have changed. Absent: it is unknown. */
  readonly changes?: InspectedFolders | undefined;
  /** Whether its end has begun. */
  readonly hasEnded: () => boolean;
  /**
   * Calls `close` when everything else of the runtime has ended, and waits for it.
   * @returns leaves; idempotent
   * @throws RuntimeError RUNTIME_SHUT_DOWN when its end has begun
   */
  readonly onShutdown: (close: () => Promise<void>) => () => void;
  /** The same when no wake and no job runs any more, and the store can still be read. */
  readonly onRest: (read: () => Promise<void>) => () => void;
}

/** Those who wait for a step of the end of a runtime. */
export class ShutdownHooks {
  readonly #closers = new Set<() => Promise<void>>();
  readonly #readers = new Set<() => Promise<void>>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Called when all has ended. @returns leaves @throws RuntimeError RUNTIME_SHUT_DOWN */
  add(close: () => Promise<void>): () => void {
    return this.#added(this.#closers, close);
  }

  /** Called before the store closes. @returns leaves @throws RuntimeError RUNTIME_SHUT_DOWN */
  addReader(read: () => Promise<void>): () => void {
    return this.#added(this.#readers, read);
  }

  /** The end has begun: no new inspector is let in. */
  begin(): void {
    this.#isOver = true;
  }

  /** @throws what the first of them that failed has thrown */
  readLast(): Promise<void> {
    return takeAll(this.#readers);
  }

  /** Closes all of them. @throws what the first of them that failed has thrown */
  close(): Promise<void> {
    return takeAll(this.#closers);
  }

  #added(to: Set<() => Promise<void>>, work: () => Promise<void>): () => void {
    if (this.#isOver)
      throw new RuntimeError(
        'RUNTIME_SHUT_DOWN',
        'the runtime is shut down, and there is nothing to read in it any more',
        { category: 'conflict', hint: 'Open a new runtime.' },
      );
    // Several may come with the same function.
    const own = (): Promise<void> => work();
    to.add(own);
    return () => void to.delete(own);
  }
}

async function takeAll(from: Set<() => Promise<void>>): Promise<void> {
  const all = [...from];
  from.clear();
  const endings = await Promise.allSettled(all.map((each) => each()));
  for (const ending of endings) if (ending.status === 'rejected') throw ending.reason;
}
