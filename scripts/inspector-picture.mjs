// @ts-check
/**
 * Makes docs/inspector.png: the demo's session that waits for a permission, in a real Chromium over the real demo. It
 * is made again by hand when the page has changed, since no two runs give the same times. Usage: npm run build && node
 * scripts/inspector-picture.mjs [FILE] [light|dark] [WIDTHxHEIGHT]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { argv, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import chromiumPackage from '@sparticuz/chromium';
import { chromium } from 'playwright-core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [, , file = join(root, 'docs', 'inspector.png'), scheme = 'light', size = '1440x900'] = argv;
const [width = 1440, height = 900] = size.split('x').map(Number);
const folder = mkdtempSync(join(tmpdir(), 'inspector-picture-'));
const demo = spawn(
  execPath,
  [join(root, 'dist', 'adapters', 'cli', 'main.js'), 'demo', '--inspect', '--dir', join(folder, 'demo')],
  { stdio: ['ignore', 'ignore', 'pipe'] },
);

/**
 * The address under which the demo says that it waits: the second one, which opens at the session. @returns
 * {Promise<string>}
 */
function waitingAddress() {
  return new Promise((resolve, reject) => {
    let text = '';
    demo.stderr.setEncoding('utf8').on('data', (/** @type {string} */ piece) => {
      text += piece;
      const address = /http:\/\/\S+#r=\S+/.exec(text)?.[0];
      if (address !== undefined) resolve(address);
    });
    demo.once('exit', () => reject(new Error(`the demo ended before it asked: ${text}`)));
  });
}

const browser = await chromium.launch({
  executablePath: await chromiumPackage.executablePath(),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: scheme === 'dark' ? 'dark' : 'light',
  });
  await page.goto(await waitingAddress());
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.screenshot({ path: file });
} finally {
  await browser.close();
  demo.kill('SIGINT');
  rmSync(folder, { recursive: true, force: true });
}
