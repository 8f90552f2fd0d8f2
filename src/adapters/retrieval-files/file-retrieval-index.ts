/**
 * The index in files beside the store: `<agent>/retrieval/<sessionId>.part`. Any number of processes may use it at
 * once. Each reads a file whole or not at all, and puts another in its place whole; the last writer wins, and a reader
 * that finds less than there is reads on from the logs. The parts of the agents that were searched last stay in memory,
 * as they are in their files.
 */
import { rm } from 'node:fs/promises';
import type { AgentIndex, RetrievalIndex } from '../../actors/retrieval/retrieval-index.ts';
import { AgentParts } from './agent-parts.ts';
import { PartFolder } from './part-folder.ts';
import { Slices } from './slices.ts';

export interface FileRetrievalIndexOptions {
  /** Absolute: the folder of an agent's index. It need not exist. */
  readonly folderOf: (agentId: string) => string;
  /** Hears what goes wrong with the files; retrieval goes on without them. */
  readonly onTrouble: (error: unknown) => void;
  /** Agents whose parts stay in memory. Default 4. */
  readonly maxOpenAgents?: number | undefined;
}

const DEFAULT_OPEN_AGENTS = 4;

/** Another process may put a file into a folder that is being removed. */
const MAX_RETRIES = 5;

export class FileRetrievalIndex implements RetrievalIndex {
  readonly #options: FileRetrievalIndexOptions;
  readonly #slices = new Slices();
  /** In the order of last use, the oldest first. */
  readonly #agents = new Map<string, Promise<AgentParts>>();

  constructor(options: FileRetrievalIndexOptions) {
    this.#options = options;
  }

  of(agentId: string): Promise<AgentIndex> {
    const { folderOf, onTrouble, maxOpenAgents = DEFAULT_OPEN_AGENTS } = this.#options;
    const known =
      this.#agents.get(agentId) ??
      loaded(
        new AgentParts({ folder: new PartFolder({ folder: folderOf(agentId), onTrouble }), slices: this.#slices }),
      );
    this.#agents.delete(agentId);
    this.#agents.set(agentId, known);
    for (const oldest of this.#agents.keys()) {
      if (this.#agents.size <= maxOpenAgents) break;
      this.#agents.delete(oldest);
    }
    return known;
  }

  async clear(agentId: string): Promise<void> {
    this.#agents.delete(agentId);
    await rm(this.#options.folderOf(agentId), { recursive: true, force: true, maxRetries: MAX_RETRIES });
  }

  breathe(): Promise<void> {
    return this.#slices.breathe();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#agents.values());
    this.#agents.clear();
  }
}

async function loaded(parts: AgentParts): Promise<AgentParts> {
  await parts.load();
  return parts;
}
