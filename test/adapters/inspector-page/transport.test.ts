/** What an answer of the inspector means to its page. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { isRefusal, reasonOf, request } from '../../../src/adapters/inspector-page/model/transport.ts';

it.each([
  [408, false, /^the inspector does not answer\. .*asked again by itself\.$/],
  [404, true, /^the inspector answered 404\. $/],
  [503, false, /^the inspector answered 503\. $/],
])('%i is a refusal, which asking again does not change: %s', async (status, isRefused, text) => {
  const server = createServer((_, response) => void response.writeHead(status).end());
  try {
    await new Promise<void>((begun) => server.listen(0, '127.0.0.1', begun));
    const { port } = server.address() as AddressInfo;
    const failure: unknown = await request(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
    expect(isRefusal(failure)).toBe(isRefused);
    expect(reasonOf(failure)).toMatch(text);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
