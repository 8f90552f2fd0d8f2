/** The `.gitignore` files that hold for a folder: its own and those above it, up to the workspace. */
import { Buffer } from 'node:buffer';
import { basename, dirname, relative, sep } from 'node:path';
import { MAX_IGNORE_FILE_BYTES } from '../../machines/turn/files/file-limits.ts';
import { ignoreVerdict, parseIgnoreRules } from '../../machines/turn/files/ignore-rules.ts';
import type { IgnoreRules } from '../../machines/turn/files/ignore-rules.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import { openRegularFile } from './places.ts';
import type { Places } from './places.ts';
import { RUNTIME_FOLDER } from './runtime-folder.ts';

const IGNORE_FILE = '.gitignore';

interface Layer {
  /** Real path of the folder whose file this is. */
  readonly folder: string;
  readonly rules: IgnoreRules;
}

export class IgnoreLayers {
  /** The deepest first: it has the last word. */
  readonly #layers: readonly Layer[];

  private constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  static none(): IgnoreLayers {
    return new IgnoreLayers([]);
  }

  /**
   * What holds from above in a folder of the workspace. A caller that begins in an ignored folder means it: then
   * nothing does.
   */
  static async above(places: Places, start: string): Promise<IgnoreLayers> {
    let layers = IgnoreLayers.none();
    for (const folderPath of foldersBetween(places.workspace, start)) {
      const folder = await places.openFolderAt(dirname(folderPath), 'read');
      try {
        layers = await layers.inFolder(folder);
        if (layers.isIgnored(folder, folderPath.slice(folder.realPath.length + 1), true)) return IgnoreLayers.none();
      } finally {
        await folder.close();
      }
    }
    return layers;
  }

  /** With the file of a folder below. One that cannot be read says nothing. */
  async inFolder(folder: HeldFolder): Promise<IgnoreLayers> {
    // Its file is ours and meant for git: the agent may search for what it was told is there.
    if (basename(folder.realPath) === RUNTIME_FOLDER) return this;
    const text = await readIgnoreFile(folder).catch(() => '');
    const rules = parseIgnoreRules(text);
    return rules.length === 0 ? this : new IgnoreLayers([{ folder: folder.realPath, rules }, ...this.#layers]);
  }

  isIgnored(folder: HeldFolder, name: string, isFolder: boolean): boolean {
    for (const { folder: top, rules } of this.#layers) {
      const between = relative(top, folder.realPath);
      const names = between === '' ? [name] : [...between.split(sep), name];
      const verdict = ignoreVerdict(rules, { names, isFolder });
      if (verdict !== undefined) return verdict === 'ignored';
    }
    return false;
  }
}

/** The folders below `top` down to `bottom`; none when it does not lie there. */
function foldersBetween(top: string, bottom: string): readonly string[] {
  const folders: string[] = [];
  for (let current = bottom; current !== top; current = dirname(current)) {
    if (dirname(current) === current) return [];
    folders.unshift(current);
  }
  return folders;
}

async function readIgnoreFile(folder: HeldFolder): Promise<string> {
  const handle = await openRegularFile(folder.at(IGNORE_FILE), IGNORE_FILE);
  try {
    const buffer = Buffer.allocUnsafe(MAX_IGNORE_FILE_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, MAX_IGNORE_FILE_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
