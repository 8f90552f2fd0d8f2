/**
 * What becomes of the folders that sessions work in while the sessions are copied to another store. None is left behind
 * without a word.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchCopy, sendCopy } from '../../actors/workspace-copy/copy-moves.ts';
import { transferCopy } from '../../actors/workspace-copy/copy-transfer.ts';
import type { WorkspaceCopyStore } from '../../actors/workspace-copy/copy-store.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { workspaceCopiesOfHome } from '../../node/workspace-copies.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { systemCodeOf } from '../../adapters/system/error-codes.ts';

export interface LeftFolder extends SessionIdentity {
  /** Where it is still, or what is newer than the copy. */
  readonly where: string;
  /** Why it can be nowhere else. Absent: the target knows nothing of it. */
  readonly bound?: string | undefined;
}

/** What lay in the home and was in no copy. */
export interface AsideFolder extends SessionIdentity {
  readonly setAside: string;
}

export interface FolderPlace {
  /** How it is shown. */
  readonly shown: string;
  readonly home: string;
  /** Undefined: folders are in the home. */
  readonly workspaceCopies: WorkspaceCopyStore | undefined;
}

export class CopiedFolders {
  readonly left: LeftFolder[] = [];
  readonly aside: AsideFolder[] = [];
  /** Sessions whose folders are in the target as they are in the source, or as a wake there has left them. */
  copied = 0;
  readonly #from: FolderPlace;
  readonly #to: FolderPlace;
  readonly #layout: HomeLayout;
  readonly #home: ReturnType<typeof workspaceCopiesOfHome>;

  constructor(from: FolderPlace, to: FolderPlace) {
    this.#from = from;
    this.#to = to;
    this.#layout = new HomeLayout(from.workspaceCopies === undefined ? from.home : to.home);
    this.#home = workspaceCopiesOfHome(this.#layout);
  }

  /** @throws RuntimeError WORKSPACE_COPY_DAMAGED, WORKSPACE_COPY_SUPERSEDED, STORAGE_FAILED */
  async carry(session: SessionState, signal: AbortSignal | undefined): Promise<void> {
    const { workspaceCopies: from } = this.#from;
    const { workspaceCopies: to } = this.#to;
    if (from === undefined) return to === undefined ? this.#stayInHome(session) : this.#send(session, to, signal);
    if (to === undefined) return this.#fetch(session, from, signal);
    if (await transferCopy({ sessionId: session.sessionId, from, to, signal })) this.copied += 1;
  }

  async #stayInHome(session: SessionState): Promise<void> {
    const workspace = this.#layout.ownWorkspace(session);
    if (await holdsFiles(workspace)) this.#leave(session, { where: workspace });
  }

  async #send(session: SessionState, to: WorkspaceCopyStore, signal: AbortSignal | undefined): Promise<void> {
    const workspace = this.#layout.ownWorkspace(session);
    const isEmpty =
      !(await holdsFiles(workspace)) && !(await holdsFiles(join(this.#layout.runtimeDirectory(session), 'agent')));
    const sent = await sendCopy({ session, to, isEmpty, signal, ...this.#home });
    if (sent.kind === 'stays') this.#leave(session, { where: session.workspace ?? workspace, bound: sent.reason });
    else if (sent.kind !== 'none') this.copied += 1;
  }

  async #fetch(session: SessionState, from: WorkspaceCopyStore, signal: AbortSignal | undefined): Promise<void> {
    const { sessionId, agentId } = session;
    const { kind, newerOn, setAside } = await fetchCopy({ session, from, signal, folders: this.#home.folders });
    if (setAside !== undefined) this.aside.push({ sessionId, agentId, setAside });
    if (newerOn !== undefined)
      this.#leave(session, {
        where:
          kind === 'laid' ? `on ${newerOn}, where it may be newer than the copy that was laid out` : `on ${newerOn}`,
      });
    else if (kind !== 'none') this.copied += 1;
  }

  #leave({ sessionId, agentId }: SessionIdentity, left: Omit<LeftFolder, keyof SessionIdentity>): void {
    this.left.push({ sessionId, agentId, ...left });
  }
}

/** Also one that cannot be read: it must not be taken for empty. */
export async function holdsFiles(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) =>
    systemCodeOf(error) === 'ENOENT' ? [] : undefined,
  );
  if (entries === undefined) return true;
  for (const entry of entries) if (!entry.isDirectory() || (await holdsFiles(join(directory, entry.name)))) return true;
  return false;
}
