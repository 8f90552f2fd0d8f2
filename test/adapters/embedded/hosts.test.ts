import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryHome } from '../../support/temporary-home.ts';

const dist = new URL('../../../dist/', import.meta.url).href;
const program = fileURLToPath(new URL('fixtures/without-packages.mjs', import.meta.url));

it('a host without the AI SDK loads nothing of it before a model is needed, and then says what to install', async () => {
  const home = await temporaryHome();
  try {
    const host = spawn(process.execPath, [program, dist, home.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [[line]] = (await Promise.all([
      once(createInterface(host.stdout), 'line'),
      once(host, 'close'),
    ])) as unknown as [[string]];
    const packages = ['@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible'];
    expect(JSON.parse(line)).toEqual({
      askedBefore: [],
      asked: packages,
      failures: packages.map((name) => ({
        isLocal: true,
        kind: 'format',
        message: expect.stringContaining(`npm install "${name}@`) as string,
      })),
    });
  } finally {
    await home.remove();
  }
});
