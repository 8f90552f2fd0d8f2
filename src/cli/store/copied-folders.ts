/**
 * What becomes of the folders that sessions work in while the sessions are copied to another store. None is left behind
 * without a word.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchHand, sendHand } from '../../actors/hand/hand-moves.ts';
import { transferHand } from '../../actors/hand/hand-transfer.ts';
import type { HandCopies } from '../../actors/hand/hand-copies.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { handsOfHome } from '../../node/workspace-copies.ts';
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
  readonly hands: HandCopies | undefined;
}

export class CopiedFolders {
  readonly left: LeftFolder[] = [];
  readonly aside: AsideFolder[] = [];
  /** Sessions whose folders are in the target as they are in the source, or as a wake there has left them. */
  copied = 0;
  readonly #from: FolderPlace;
  readonly #to: FolderPlace;
  readonly #layout: HomeLayout;
  readonly #home: ReturnType<typeof handsOfHome>;

  constructor(from: FolderPlace, to: FolderPlace) {
    this.#from = from;
    this.#to = to;
    this.#layout = new HomeLayout(from.hands === undefined ? from.home : to.home);
    this.#home = handsOfHome(this.#layout);
  }

  /** @throws RuntimeError HAND_COPY_DAMAGED, HAND_SUPERSEDED, STORAGE_FAILED */
  async carry(session: SessionState, signal: AbortSignal | undefined): Promise<void> {
    const { hands: from } = this.#from;
    const { hands: to } = this.#to;
    if (from === undefined) return to === undefined ? this.#stayInHome(session) : this.#send(session, to, signal);
    if (to === undefined) return this.#fetch(session, from, signal);
    if (await transferHand({ sessionId: session.sessionId, from, to, signal })) this.copied += 1;
  }

  async #stayInHome(session: SessionState): Promise<void> {
    const workspace = this.#layout.ownWorkspace(session);
    if (await holdsFiles(workspace)) this.#leave(session, { where: workspace });
  }

  async #send(session: SessionState, to: HandCopies, signal: AbortSignal | undefined): Promise<void> {
    const workspace = this.#layout.ownWorkspace(session);
    const isEmpty =
      !(await holdsFiles(workspace)) && !(await holdsFiles(join(this.#layout.runtimeDirectory(session), 'agent')));
    const sent = await sendHand({ session, to, isEmpty, signal, ...this.#home });
    if (sent.kind === 'stays') this.#leave(session, { where: session.workspace ?? workspace, bound: sent.reason });
    else if (sent.kind !== 'none') this.copied += 1;
  }

  async #fetch(session: SessionState, from: HandCopies, signal: AbortSignal | undefined): Promise<void> {
    const { sessionId, agentId } = session;
    const { kind, newerOn, setAside } = await fetchHand({ session, from, signal, folders: this.#home.folders });
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
