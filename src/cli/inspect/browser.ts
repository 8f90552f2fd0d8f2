/**
 * Opens an address in the browser of the user who runs this program.
 *
 * Command lines can be read by every user of the machine, and the address signs in the first to open it. So the browser
 * is handed the path of a file that only its owner can read, and the file leads on.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What each system opens files with. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...words: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** A browser that has to start first has read the file by then. */
const KEPT_MS = 60_000;

/**
 * No shell is asked. The file goes after a minute, or with this process. @throws the error of the system when there is
 * no such program
 */
export async function openBrowser(address: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'wakechart-open-'));
  const forget = (): void => {
    process.removeListener('exit', forget);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', forget);
  try {
    const file = join(folder, 'inspector.html');
    await writeFile(file, pageTo(address), { mode: 0o600, flag: 'wx' });
    await open(file);
  } catch (error) {
    forget();
    throw error;
  }
  setTimeout(forget, KEPT_MS).unref();
}

async function open(file: string): Promise<void> {
  const [program, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  // It outlives us, and what it writes is not read.
  const child = spawn(program, [...words, file], { stdio: 'ignore', detached: true });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
}

/** @param address a URL as it is written out, in which nothing ends an attribute */
function pageTo(address: string): string {
  const { href } = new URL(address);
  const shown = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Wakechart inspector</title><meta http-equiv="refresh" content="0; url=${shown}"><a href="${shown}">Open the inspector</a>\n`;
}
