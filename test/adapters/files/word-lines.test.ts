/** Words over a socket whose reader is slow, or is told nonsense. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WordReader, wordWriter } from '../../../src/adapters/files/word-lines.ts';
import type { SessionWord } from '../../../src/machines/words/session-word.ts';

interface Pair extends AsyncDisposable {
  readonly writing: Socket;
  readonly reading: Socket;
}

async function pair(): Promise<Pair> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reading = connect(port, '127.0.0.1');
  const [writing] = (await once(server, 'connection')) as [Socket];
  return {
    writing,
    reading,
    async [Symbol.asyncDispose]() {
      for (const each of [writing, reading]) each.destroy();
      server.close();
    },
  };
}

const said = (text: string): SessionWord => ({ type: 'said', kind: 'text', text });

describe('words over a socket', () => {
  it('are dropped for a reader that does not read, who is told once it does; what it has to know comes all the same', async () => {
    await using sockets = await pair();
    const { writing, reading } = sockets;
    const words: SessionWord[] = [];
    const reader = new WordReader();
    const tell = wordWriter(writing);
    reading.pause();
    for (let count = 0; count < 2_000; count += 1) tell(said(`${count} `.padEnd(10_000, '.')));
    expect(writing.writableLength).toBeLessThan(200_000);
    tell({ type: 'logged', after: 3 });
    reading.setEncoding('utf8');
    reading.on('data', (text: string) => words.push(...reader.read(text)));
    reading.resume();
    await expect.poll(() => words.at(-1)).toEqual({ type: 'logged', after: 3 });
    expect(words.some(({ type }) => type === 'lost')).toBe(true);
    tell(said('goes on'));
    await expect.poll(() => words.at(-1)).toEqual(said('goes on'));
  });

  it('are passed over where they are none of ours', () => {
    const reader = new WordReader();
    const line = JSON.stringify(said('one'));
    expect(reader.read(`nonsense\n{"type":"said"}\n[]\n${line.slice(0, 10)}`)).toEqual([]);
    expect(reader.read(`${line.slice(10)}\n{"type":"alive"}\n`)).toEqual([said('one')]);
    for (let count = 0; count < 20; count += 1) expect(reader.read('x'.repeat(100_000))).toEqual([]);
    expect(reader.read(`\n${line}\n`)).toEqual([said('one')]);
  });

  it('go nowhere, and do no harm, once the reader is gone', async () => {
    await using sockets = await pair();
    const { writing, reading } = sockets;
    const tell = wordWriter(writing);
    writing.on('error', () => undefined);
    reading.destroy();
    await once(writing.resume(), 'close');
    for (let count = 0; count < 100; count += 1) tell(said('x'.repeat(10_000)));
    expect(writing.writableLength).toBe(0);
  });
});
