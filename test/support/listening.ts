/** Whether anything listens on a port of this machine. */
import { once } from 'node:events';
import { connect } from 'node:net';

export async function isListening({ port }: { readonly port: number }): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
