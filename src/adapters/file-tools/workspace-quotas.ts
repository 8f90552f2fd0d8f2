/**
 * How much a session holds in its workspace and in what it keeps for itself, and what more it may hold. What tools
 * write is added up as it is written; what commands write is found by measuring again, now and then, so that large
 * workspaces cost little.
 */
import { lstat, opendir } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ARTIFACT_NAMES } from '../../machines/artifact/artifact-names.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_MEASURED_ENTRIES, MAX_MEASURED_WORKSPACES } from '../../machines/turn/files/file-limits.ts';
import { CooperativeYield } from './cooperative-yield.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import type { Places } from './places.ts';
import { RUNTIME_FOLDER } from './runtime-folder.ts';

export interface QuotaLimits {
  readonly maxBytes?: number | undefined;
  /** Files, folders and links. */
  readonly maxFiles?: number | undefined;
}

export interface Usage {
  readonly bytes: number;
  readonly files: number;
}

interface Measurement extends Usage {
  /** On the steady clock. */
  readonly atMs: number;
  readonly tookMs: number;
}

export interface QuotaRequest {
  readonly places: Places;
  readonly limits: QuotaLimits;
  readonly signal: AbortSignal;
}

/**
 * A measurement may be as old as this many times what it took, within bounds: measuring never takes more than a
 * twentieth of the time.
 */
const AGE_PER_DURATION = 20;
const MIN_AGE_MS = 1_000;
const MAX_AGE_MS = 60_000;

/** Files that are checked together. */
const BATCH_FILES = 64;

export class WorkspaceQuotas {
  /** By the folders that are measured, the ones used last at the end. */
  readonly #known = new Map<string, Measurement>();

  /**
   * @throws RuntimeError QUOTA_EXCEEDED when the change would make the workspace hold more than it may; it may always
   * hold less
   */
  async admit(request: QuotaRequest, change: Usage): Promise<void> {
    const { limits } = request;
    if (limits.maxBytes === undefined && limits.maxFiles === undefined) return;
    const known = this.#known.get(keyOf(request.places));
    if (known !== undefined && isFresh(known) && excess(sum(known, change), change, limits) === undefined) return;
    // No call is refused by what was true before: something may have been deleted since.
    const usage = await this.#measure(request);
    const problem = excess(sum(usage, change), change, limits);
    if (problem !== undefined) throw quotaExceeded(problem, { usage, change, limits });
  }

  /** What was written by a tool. */
  add(places: Places, change: Usage): void {
    const key = keyOf(places);
    const known = this.#known.get(key);
    if (known !== undefined) this.#known.set(key, { ...known, ...sum(known, change) });
  }

  /**
   * What to say after something that may have written; undefined as long as the workspace holds no more than it may.
   */
  async note(request: QuotaRequest): Promise<string | undefined> {
    const { limits } = request;
    if (limits.maxBytes === undefined && limits.maxFiles === undefined) return undefined;
    const known = this.#known.get(keyOf(request.places));
    if (known !== undefined && isFresh(known) && excess(known, undefined, limits) === undefined) return undefined;
    // The agent is not told what was true before: the command may have deleted what was too much.
    const problem = excess(await this.#measure(request), undefined, limits);
    return problem === undefined
      ? undefined
      : `The workspace holds ${problem}. Nothing more can be written by file tools until something is deleted.`;
  }

  async #measure({ places, limits, signal }: QuotaRequest): Promise<Usage> {
    const key = keyOf(places);
    const beganMs = performance.now();
    const usage = await measure(places, { needsBytes: limits.maxBytes !== undefined, signal });
    const atMs = performance.now();
    this.#known.delete(key);
    this.#known.set(key, { ...usage, atMs, tookMs: atMs - beganMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_MEASURED_WORKSPACES && oldest !== undefined) this.#known.delete(oldest);
    return usage;
  }
}

function keyOf({ measured }: Places): string {
  return measured.join('\0');
}

function isFresh({ atMs, tookMs }: Measurement): boolean {
  return performance.now() - atMs <= Math.min(MAX_AGE_MS, Math.max(MIN_AGE_MS, AGE_PER_DURATION * tookMs));
}

function sum(one: Usage, other: Usage): Usage {
  return { bytes: Math.max(0, one.bytes + other.bytes), files: Math.max(0, one.files + other.files) };
}

/** What is too much, in words. A change that adds nothing to it is not to blame. */
function excess(
  { bytes, files }: Usage,
  change: Usage | undefined,
  { maxBytes, maxFiles }: QuotaLimits,
): string | undefined {
  if (maxBytes !== undefined && bytes > maxBytes && (change === undefined || change.bytes > 0))
    return `${bytes} bytes, ${maxBytes} at most are allowed`;
  if (maxFiles !== undefined && files > maxFiles && (change === undefined || change.files > 0))
    return `${files} files and folders, ${maxFiles} at most are allowed`;
  return undefined;
}

/**
 * Everything, also outputs that the runtime keeps there; not what it lays out about the session, which comes back
 * whatever is deleted. Links are not followed.
 */
async function measure(
  places: Places,
  { needsBytes, signal }: { readonly needsBytes: boolean; readonly signal: AbortSignal },
): Promise<Usage> {
  const cooperativeYield = new CooperativeYield(signal);
  const waiting = [...places.measured];
  let bytes = 0;
  let files = 0;
  for (let next = waiting.pop(); next !== undefined && files < MAX_MEASURED_ENTRIES; next = waiting.pop()) {
    const folder = await places.openToMeasure(next).catch(() => undefined);
    if (folder === undefined) continue;
    try {
      const names: string[] = [];
      for await (const entry of entriesOf(folder)) {
        const path = join(next, entry.name);
        if (!entry.isDirectory() && isLaidOut(path)) continue;
        files += isRuntimeFolder(path) ? 0 : 1;
        if (!entry.isDirectory()) names.push(entry.name);
        else waiting.push(path);
        if (cooperativeYield.isDue) await cooperativeYield.rest();
      }
      if (needsBytes) bytes += await bytesOf(folder, names, cooperativeYield);
    } finally {
      await folder.close();
    }
  }
  return { bytes, files };
}

/** `.wakechart-runtime/NAME`, or `.wakechart-runtime/sessions/ID/NAME` where several sessions work in a folder. */
function isLaidOut(path: string): boolean {
  if (!ARTIFACT_NAMES.has(basename(path)) && basename(path) !== '.gitignore') return false;
  return isRuntimeFolder(dirname(path));
}

/** Those that the runtime makes for what it lays out. */
function isRuntimeFolder(path: string): boolean {
  if (basename(path) === RUNTIME_FOLDER) return true;
  const [above, sessions] = [dirname(dirname(path)), basename(dirname(path))];
  return (
    (basename(path) === 'sessions' && basename(dirname(path)) === RUNTIME_FOLDER) ||
    (sessions === 'sessions' && basename(above) === RUNTIME_FOLDER)
  );
}

async function* entriesOf(folder: HeldFolder): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder.at(), { bufferSize: 256 });
  } catch {
    // Gone, or not to be read: what is in it cannot be told.
  }
}

async function bytesOf(
  folder: HeldFolder,
  names: readonly string[],
  cooperativeYield: CooperativeYield,
): Promise<number> {
  let bytes = 0;
  for (let start = 0; start < names.length; start += BATCH_FILES) {
    const sizes = await Promise.all(
      names.slice(start, start + BATCH_FILES).map((name) =>
        lstat(folder.at(name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    bytes += sizes.reduce((all, size) => all + size, 0);
    if (cooperativeYield.isDue) await cooperativeYield.rest();
  }
  return bytes;
}

function quotaExceeded(
  problem: string,
  { usage, change, limits }: { readonly usage: Usage; readonly change: Usage; readonly limits: QuotaLimits },
): RuntimeError {
  return new RuntimeError('QUOTA_EXCEEDED', `the workspace would hold ${problem}; nothing was written`, {
    category: 'capacity',
    hint: 'Delete what is not needed any more, or write less. The quota is set by the environment.',
    details: { bytes: usage.bytes, files: usage.files, addedBytes: change.bytes, addedFiles: change.files, ...limits },
  });
}
