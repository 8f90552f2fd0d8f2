/**
 * The memory of an agent: the managed section of MEMORY.md among what its sessions share, and what every wake is told
 * of it.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { KeptLearning } from '../../machines/memory/learning.ts';
import type { MemoryEntry } from '../../machines/memory/memory-entry.ts';
import { memoryBrief } from '../../machines/memory/memory-brief.ts';
import { readMemory, withEntries, withoutEntry, writeMemory } from '../../machines/memory/memory-file.ts';
import { MEMORY_FILE } from '../../machines/memory/shared-file-path.ts';
import type { PromotionPermit } from '../outcome/promotion-gate.ts';
import type { WakeMemory } from '../wake/wake-ports.ts';
import type { LearningStore } from './learning-store.ts';
import { sharedFilesConflict, versionNotFound } from './shared-files-store.ts';
import type { SharedFilesEdit, SharedFilesResult, SharedFilesStore } from './shared-files-store.ts';

interface AgentMemoryPorts {
  readonly sharedFiles: SharedFilesStore;
  readonly learnings: LearningStore;
}

export interface MemoryReading {
  readonly version: number;
  /** All of MEMORY.md; empty when there is none. What is not UTF-8 is shown as far as it can be. */
  readonly text: string;
  readonly entries: readonly MemoryEntry[];
  /** Why the entries cannot be read. */
  readonly problem?: string | undefined;
}

interface MemoryPromotion {
  readonly agentId: string;
  readonly learnings: readonly KeptLearning[];
  readonly expectedVersion: number;
  readonly why: string;
}

interface MemoryRestore {
  readonly agentId: string;
  readonly version: number;
  readonly expectedVersion: number;
}

const EMPTY = new Uint8Array(0);

export class AgentMemory implements WakeMemory {
  readonly #ports: AgentMemoryPorts;

  constructor(ports: AgentMemoryPorts) {
    this.#ports = ports;
  }

  /** @throws RuntimeError SHARED_FILES_VERSION_NOT_FOUND, SHARED_FILES_DAMAGED, STORAGE_FAILED */
  async read(agentId: string, version?: number): Promise<MemoryReading> {
    const at = version ?? (await this.#ports.sharedFiles.head(agentId)).version;
    const bytes =
      at === 0 && version === undefined
        ? EMPTY
        : ((await this.#ports.sharedFiles.read(agentId, MEMORY_FILE, at)) ?? EMPTY);
    const text = new TextDecoder().decode(bytes);
    try {
      return { version: at, text, entries: readMemory(bytes).entries };
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      return { version: at, text, entries: [], problem: error.message };
    }
  }

  /** @throws RuntimeError MEMORY_DAMAGED and what reading throws */
  async brief(agentId: string): Promise<string | undefined> {
    const { entries, problem } = await this.read(agentId);
    if (problem !== undefined)
      throw new RuntimeError('MEMORY_DAMAGED', `agent ${agentId}: ${problem}`, {
        category: 'validation',
        hint: 'Put the section right by hand. Until then its wakes are told nothing of it.',
      });
    if (entries.length === 0) return undefined;
    const counts = new Map(
      (await this.#ports.learnings.list(agentId)).map((learning) => [learning.learningId, learning]),
    );
    return memoryBrief(entries, counts);
  }

  /**
   * Puts learnings into the section, in the place of earlier ones with the same key. What is there already stays as it
   * is. @throws RuntimeError as SharedFilesStore.promote; MEMORY_DAMAGED, MEMORY_FULL
   */
  async promote(
    permit: PromotionPermit,
    { agentId, learnings, expectedVersion, why }: MemoryPromotion,
  ): Promise<SharedFilesResult> {
    const document = await this.#document(agentId, expectedVersion);
    const corrected = correctedBy(learnings, await this.#ports.learnings.list(agentId, { includeForgotten: true }));
    const content = withEntries(
      { ...document, entries: document.entries.filter(({ learningId }) => !corrected.has(learningId)) },
      learnings.map(entryOf),
    );
    return this.#ports.sharedFiles.promote(permit, memoryEdit({ agentId, content, expectedVersion, why }));
  }

  /**
   * The entries of an older version, and only these: what people wrote around them stays. @throws RuntimeError as
   * `promote`; SHARED_FILES_VERSION_NOT_FOUND
   */
  async restore(permit: PromotionPermit, restore: MemoryRestore): Promise<SharedFilesResult> {
    return this.#ports.sharedFiles.promote(permit, await this.#restored(restore));
  }

  /** What people ask for on the command line. */
  readonly people = {
    restore: async (restore: MemoryRestore): Promise<SharedFilesResult> =>
      this.#ports.sharedFiles.people.edit(await this.#restored(restore)),
    /** Takes an entry out. Undefined when there is none of this id. */
    forget: async (agentId: string, learningId: string): Promise<SharedFilesResult | undefined> => {
      const { version } = await this.#ports.sharedFiles.head(agentId);
      const content = withoutEntry(await this.#document(agentId, version), learningId);
      return content === undefined
        ? undefined
        : this.#ports.sharedFiles.people.edit(
            memoryEdit({ agentId, content, expectedVersion: version, why: `forgot ${learningId}` }),
          );
    },
  };

  async #restored({ agentId, version, expectedVersion }: MemoryRestore): Promise<SharedFilesEdit> {
    const document = await this.#document(agentId, expectedVersion);
    if (version > expectedVersion) throw versionNotFound(agentId, version, expectedVersion);
    const { entries } = readMemory((await this.#ports.sharedFiles.read(agentId, MEMORY_FILE, version)) ?? EMPTY);
    return memoryEdit({
      agentId,
      content: writeMemory(document, entries),
      expectedVersion,
      why: `restored the memory of version ${version}`,
    });
  }

  async #document(agentId: string, expectedVersion: number): Promise<ReturnType<typeof readMemory>> {
    const { version } = await this.#ports.sharedFiles.head(agentId);
    if (version !== expectedVersion) throw sharedFilesConflict(agentId, { expected: expectedVersion, head: version });
    return readMemory(
      version === 0 ? EMPTY : ((await this.#ports.sharedFiles.read(agentId, MEMORY_FILE, version)) ?? EMPTY),
    );
  }
}

function memoryEdit({
  content,
  ...rest
}: Omit<SharedFilesEdit, 'changes'> & { readonly content: Uint8Array }): SharedFilesEdit {
  return { ...rest, changes: [{ path: MEMORY_FILE, content }] };
}

/** The ids of earlier learnings about the same: what is promoted corrects them. */
function correctedBy(promoted: readonly KeptLearning[], all: readonly KeptLearning[]): ReadonlySet<string> {
  const newest = new Map<string, KeptLearning>();
  for (const learning of promoted) {
    const { dedupeKey, at } = learning;
    if (dedupeKey !== undefined && at >= (newest.get(dedupeKey)?.at ?? '')) newest.set(dedupeKey, learning);
  }
  return new Set(
    all.flatMap(({ learningId, dedupeKey = '', at }) => {
      const by = newest.get(dedupeKey);
      return by !== undefined && by.learningId !== learningId && at <= by.at ? [learningId] : [];
    }),
  );
}

function entryOf({ learningId, at, kind, title, detail }: KeptLearning): MemoryEntry {
  return { learningId, at, kind, title, detail };
}
