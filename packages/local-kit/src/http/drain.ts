/** Stops an HTTP server without cutting current requests. Independent of its handlers. */
import type { Server } from 'node:http';

/**
 * Call it when the server is created. The returned function stops accepting connections, lets current requests finish and closes each
 * connection once it is idle, because keep-alive would hold the server open for minutes. It resolves when all connections are closed;
 * after `graceMs` it cuts them.
 */
export function drainable(server: Server): (graceMs: number) => Promise<void> {
  let draining: Promise<void> | undefined;
  server.on('request', (_request, response) => {
    response.once('close', () => {
      // Deferred, because the connection is idle only after this event.
      if (draining) setImmediate(() => server.closeIdleConnections());
    });
  });
  return (graceMs) => {
    draining ??= new Promise((resolve) => {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      server.close(() => {
        clearTimeout(cut);
        resolve();
      });
      server.closeIdleConnections();
    });
    return draining;
  };
}
