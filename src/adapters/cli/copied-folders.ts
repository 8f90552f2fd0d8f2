/** What becomes of the folders that sessions work in while the sessions are copied to another store. None is left behind without a word. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { transferHand } from '../../actors/hand/hand-transfer.ts';
import type { HandCopies } from '../../actors/hand/hand-copies.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { HomeLayout } from '../files/layout.ts';

export interface LeftFolder extends SessionIdentity {
  /** Where it is still. */
  readonly where: string;
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
  /** Sessions whose copies of folders are in the target as they are in the source. */
  copied = 0;
  readonly #from: FolderPlace;
  readonly #to: FolderPlace;

  constructor(from: FolderPlace, to: FolderPlace) {
    this.#from = from;
    this.#to = to;
  }

  /** @throws RuntimeError HAND_COPY_DAMAGED, HAND_SUPERSEDED, STORAGE_FAILED */
  async carry({ sessionId, agentId }: SessionIdentity, signal: AbortSignal | undefined): Promise<void> {
    const { hands: from, shown, home } = this.#from;
    const { hands: to } = this.#to;
    if (from !== undefined && to !== undefined) {
      if (await transferHand({ sessionId, from, to, signal })) this.copied += 1;
      return;
    }
    const where = from === undefined ? await whereInHome(home, { sessionId, agentId }) : await whereInDatabase(shown, sessionId, from);
    if (where !== undefined) this.left.push({ sessionId, agentId, where });
  }
}

async function whereInHome(home: string, session: SessionIdentity): Promise<string | undefined> {
  const workspace = new HomeLayout(home).ownWorkspace(session);
  return (await holdsFiles(workspace)) ? workspace : undefined;
}

async function whereInDatabase(shown: string, sessionId: string, hands: Pick<HandCopies, 'latest'>): Promise<string | undefined> {
  const { host, copy, added = [] } = (await hands.latest(sessionId)) ?? {};
  const isCopied = (copy?.files ?? 0) > 0 || added.length > 0;
  const places = [...(host === undefined ? [] : [`on ${host.name}`]), ...(isCopied ? [`in ${shown}`] : [])];
  return places.length === 0 ? undefined : places.join(' and ');
}

export async function holdsFiles(directory: string): Promise<boolean> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (!entry.isDirectory() || (await holdsFiles(join(directory, entry.name)))) return true;
  return false;
}
