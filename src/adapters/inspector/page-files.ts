/**
 * The files of the page. What is in the folder is listed first and then looked up by its whole name, so no address,
 * however it is written, leads anywhere else; links in the folder are not followed.
 */
import { createHash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { systemCodeOf } from '../system/error-codes.ts';
import { READING_NO_LINK } from '../system/own-files.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};
const OTHER = 'application/octet-stream';

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 2_000;

/** What opening says of a file that went, or became something else, since it was listed. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

export interface PageFile {
  readonly type: string;
  /** Of the content. */
  readonly tag: string;
  readonly content: Uint8Array;
  /** The same as gzip, where the build has left it. */
  readonly compressed?: Uint8Array | undefined;
}

export class PageFiles {
  readonly #directory: string;

  /** @param directory absolute */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * @param path decoded, from the root of the page, as `/index.html` @returns undefined for anything that is no file of
   * the page
   */
  async find(path: string): Promise<PageFile | undefined> {
    const name = path === '/' ? 'index.html' : path.slice(1);
    // Each time: a page that was built anew has other files, and a folder may have become a link.
    const names = await namesIn(this.#directory);
    const read = async (each: string): Promise<Uint8Array | undefined> =>
      names.has(each) ? contentOf(join(this.#directory, each)) : undefined;
    const compressed = await read(`${name}.gz`);
    // The package has the files compressed only.
    const content = (await read(name)) ?? (compressed === undefined ? undefined : unpacked(compressed));
    return content === undefined
      ? undefined
      : {
          ...(compressed === undefined ? {} : { compressed }),
          type: TYPES[extname(name).toLowerCase()] ?? OTHER,
          tag: createHash('sha256').update(content).digest('hex'),
          content,
        };
  }
}

/**
 * Plain files, by their path from the folder with slashes. Hidden ones, and those in hidden folders, are not for
 * browsers.
 */
async function namesIn(directory: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(join(directory, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) folders.push(name);
      else if (entry.isFile() && names.size < MAX_FILES) names.add(name);
    }
  }
  return names;
}

function unpacked(compressed: Uint8Array): Uint8Array {
  return gunzipSync(compressed, { maxOutputLength: MAX_BYTES });
}

/** Undefined for what is gone, or no plain file any more, or too long for a page. */
async function contentOf(path: string): Promise<Uint8Array | undefined> {
  const handle = await open(path, READING_NO_LINK).catch((error: unknown) => {
    if (GONE.has(systemCodeOf(error) ?? '')) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    return stats.isFile() && stats.size <= MAX_BYTES ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
}
