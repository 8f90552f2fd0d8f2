/** Opens an address in the browser of whoever runs this program. */
import { spawn } from 'node:child_process';

/** What each system opens addresses with. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...words: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** No shell is asked. @throws the error of the system when there is no such program */
export async function openBrowser(address: string): Promise<void> {
  const [program, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  // It outlives us, and what it writes is nobody's.
  const child = spawn(program, [...words, address], { stdio: 'ignore', detached: true });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
}
