/** Reads script files, and keeps the last few: a long script is played step by step, and reading all of it at each step would be quadratic. */
import { open } from 'node:fs/promises';
import { parseScript } from './script-schema.ts';
import type { Script } from './script-schema.ts';

/** Scripts that are kept at once. */
const MAX_KEPT_SCRIPTS = 8;

/**
 * For how long a file must have rested before it is kept, in milliseconds. File systems stamp changes with a coarse clock, some only every
 * other second: of two changes within one tick the second does not show.
 */
const RESTED_AFTER_MS = 2_000;

interface KeptScript {
  readonly version: string;
  readonly script: Script;
}

export class ScriptFiles {
  /** By path, the one used last at the end. */
  readonly #kept = new Map<string, KeptScript>();

  /** `name` is what errors call it. @throws RuntimeError SCRIPT_INVALID, or what the file system says */
  async load(path: string, name: string): Promise<Script> {
    const file = await open(path, 'r');
    try {
      const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs } = await file.stat({ bigint: true });
      const version = [dev, ino, size, mtimeNs, ctimeNs].join(':');
      const kept = this.#kept.get(path);
      this.#kept.delete(path);
      if (kept?.version === version) return this.#keep(path, kept);
      const script = parseScript(await file.readFile('utf8'), name);
      // The stamps are the system's, so they are compared with its time and not with the runtime's.
      return Date.now() - Number(mtimeMs) < RESTED_AFTER_MS ? script : this.#keep(path, { version, script });
    } finally {
      await file.close();
    }
  }

  #keep(path: string, kept: KeptScript): Script {
    this.#kept.set(path, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT_SCRIPTS && oldest !== undefined) this.#kept.delete(oldest);
    return kept.script;
  }
}
