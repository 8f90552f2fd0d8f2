/** The copies of a session's state that lie beside its log, for people and for lists. Each says how much of the log it stands for. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { replaceFile } from './durable-files.ts';
import { QUEUE_FILE, VIEW_FILE } from './layout.ts';

const FORMAT = 'wakechart-session/1';

interface StoredView {
  readonly format: typeof FORMAT;
  readonly foldVersion: number;
  /** Bytes of the log that are folded into it. */
  readonly logBytes: number;
  /** CRC-32 of `state` as JSON. */
  readonly crc: string;
  readonly state: SessionState;
}

export async function writeSessionViews(directory: string, state: SessionState, logBytes: number): Promise<void> {
  const view: StoredView = { format: FORMAT, foldVersion: SESSION_FOLD_VERSION, logBytes, crc: checksum(state), state };
  await replaceFile(join(directory, VIEW_FILE), `${JSON.stringify(view, undefined, 2)}\n`);
  await replaceFile(join(directory, QUEUE_FILE), state.queuedWakes.map((queued) => `${JSON.stringify(queued)}\n`).join(''));
}

export interface ViewSource {
  readonly identity: SessionIdentity;
  /** Of the session. */
  readonly directory: string;
  readonly logPath: string;
}

/** The stored state, if it is whole and stands for all of the log. What is wrong with it never matters: the log is there. */
export async function readSessionView({ identity, directory, logPath }: ViewSource): Promise<SessionState | undefined> {
  try {
    const view: unknown = JSON.parse(await readFile(join(directory, VIEW_FILE), 'utf8'));
    if (!isStoredView(view) || view.crc !== checksum(view.state)) return undefined;
    const isOfThisSession = view.state.sessionId === identity.sessionId && view.state.agentId === identity.agentId;
    return isOfThisSession && view.logBytes === (await stat(logPath)).size ? view.state : undefined;
  } catch {
    return undefined;
  }
}

function isStoredView(value: unknown): value is StoredView {
  if (typeof value !== 'object' || value === null) return false;
  const { format, foldVersion, state } = value as Partial<Record<keyof StoredView, unknown>>;
  return format === FORMAT && foldVersion === SESSION_FOLD_VERSION && typeof state === 'object' && state !== null;
}

function checksum(state: SessionState): string {
  return crc32(JSON.stringify(state)).toString(16).padStart(8, '0');
}
