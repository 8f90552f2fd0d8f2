/**
 * How many may be connected at once. A client that only holds a connection makes room for the next: a stranger with
 * many silent ones locks no client out.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * At the limit, the connection that has waited longest without a request under way is closed; where all have one, the
 * new one.
 */
export function boundConnections(server: Server, limit: number): void {
  const open = new Set<Socket>();
  /** Those without a request under way, in the order of their last one. */
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    if (open.size >= limit) {
      const [oldest] = silent;
      forget(oldest ?? socket);
      if (oldest === undefined) return;
    }
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => forget(socket));
  });
  server.on('request', ({ socket }, response) => {
    silent.delete(socket);
    response.once('close', () => void (open.has(socket) && silent.add(socket)));
  });

  function forget(socket: Socket): void {
    open.delete(socket);
    silent.delete(socket);
    socket.destroy();
  }
}
