/** What one connection to a lease can ask for. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encodeMessage } from '../../../src/adapters/files/lease-message.ts';
import { LeaseSocket } from '../../../src/adapters/files/lease-socket.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

it('is to hear the words of its session once, however often it says so', async () => {
  const home = await temporaryHome();
  const address = join(home.path, '1.sock');
  const followed: string[] = [];
  const socket = await LeaseSocket.listen({
    address,
    answer: () => ({ type: 'alive', phase: 'held', epoch: 1, pid: 1, host: 'here' }),
    onPassed: () => undefined,
    onFollow: (_connection, by) => void followed.push(by),
  });
  const connection = connect(address);
  try {
    connection.write(encodeMessage({ type: 'follow', by: 'one' }).repeat(100));
    connection.write(encodeMessage({ type: 'follow', by: 'other' }) + encodeMessage({ type: 'ask' }));
    // The answer comes after all that was said before.
    await once(connection, 'data');
    expect(followed).toEqual(['one']);
  } finally {
    connection.destroy();
    await socket.close();
    await home.remove();
  }
});
