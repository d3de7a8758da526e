/** Stops an HTTP server without cutting current requests. Independent of its handlers. */
import type { Server } from 'node:http';

/**
 * Call it when the server is made. The function it returns stops accepting, lets the requests in hand finish,
 * closes each connection as it falls idle (keep-alive would hold the server open for minutes), and resolves when
 * all are gone, or are cut after `graceMs`.
 */
export function drainable(server: Server): (graceMs: number) => Promise<void> {
  let draining: Promise<void> | undefined;
  server.on('request', (_request, response) => {
    response.once('close', () => {
      // The connection counts as idle only after this event.
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
