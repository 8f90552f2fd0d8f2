/** A long response is written no faster than it is read. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PacedStream } from '../../../src/adapters/inspector/paced-stream.ts';

function opened(): { readonly response: ServerResponse; readonly channel: PassThrough; readonly stream: PacedStream } {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const channel = new PassThrough({ highWaterMark: 4 });
  return { response, channel, stream: new PacedStream(response, channel) };
}

it('waits with the next words until those before were read', async () => {
  const { channel, stream } = opened();
  let written = 0;
  const writing = (async () => {
    for (; written < 5; written += 1) await stream.write('12345678');
  })();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  expect(written).toBeLessThan(2);
  channel.resume();
  await writing;
  expect(written).toBe(5);
});

it('stops waiting when its client is gone, and writes no more', async () => {
  const { response, channel, stream } = opened();
  const writing = (async () => {
    for (let count = 0; count < 5; count += 1) await stream.write('12345678');
  })();
  response.destroy();
  response.emit('close');
  await writing;
  const before = channel.writableLength;
  await stream.write('12345678');
  expect([stream.gone.aborted, channel.writableLength]).toEqual([true, before]);
});
