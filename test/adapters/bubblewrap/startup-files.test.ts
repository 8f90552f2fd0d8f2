/**
 * Programs that begin in a sandbox while Wakechart has files open that it was started with: a shell closes those, and
 * is to do nothing else.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const run = promisify(execFile);

let home: TemporaryHome;

beforeAll(async () => {
  home = await temporaryHome();
});

afterAll(() => home.remove());

it.skipIf(!existsSync('/bin/bash'))(
  'get nothing of what ~/.bashrc exports, which bash reads when its input is a socket',
  async () => {
    await writeFile(join(home.path, '.bashrc'), 'export FROM_BASHRC=yes\n');
    const closer = new URL('../../../dist/adapters/bubblewrap/open-descriptors.js', import.meta.url).href;
    const script = join(home.path, 'start.mjs');
    // Node gives a program whose input is a pipe one end of a socket. The first one is as bash would be by itself.
    await writeFile(
      script,
      `import { spawn } from 'node:child_process';
     import { descriptorCloser } from ${JSON.stringify(closer)};
     const [bash, ...words] = await descriptorCloser();
     const output = (args) => new Promise((resolve) => {
       const child = spawn(bash, [...args, 'env'], { env: { HOME: process.env.HOME, PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'inherit'] });
       let text = '';
       child.stdout.on('data', (chunk) => { text += chunk; });
       child.once('close', () => resolve(text));
     });
     const plain = words.filter((word) => word !== '--norc');
     console.log(JSON.stringify({ plain: await output(plain), closed: await output(words) }));`,
    );
    const { stdout } = await run(
      '/bin/bash',
      ['-c', 'exec 20</dev/null; exec "$@"', 'bash', process.execPath, script],
      { env: { HOME: home.path, PATH: process.env['PATH'] } },
    );
    const { plain, closed } = JSON.parse(stdout) as { readonly plain: string; readonly closed: string };
    expect(plain).toContain('FROM_BASHRC=yes');
    expect(closed).toContain(`HOME=${home.path}`);
    expect(closed).not.toContain('FROM_BASHRC');
  },
);
