/**
 * One loopback port for gRPC and HTTP/1.1: what a connection sends first tells which it is, and it is handed to that server
 * in this process. Costs gRPC nothing for a call, one look at the first bytes for a connection.
 */
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';

/** First bytes of the preface of HTTP/2; no method of HTTP/1.1 begins with them. */
const HTTP2 = Buffer.from('PRI');
/** A connection that says nothing for as long is closed; clients of both kinds speak first. */
const SILENCE_MS = 60_000;

export interface SharedPort {
  /** `127.0.0.1:port` */
  readonly host: string;
  /** Stops listening and cuts every connection. */
  close(): void;
}

/** @param port 0 takes a free one */
export async function listenForBoth(
  { grpc, http }: { readonly grpc: GrpcServer; readonly http: HttpServer },
  port: number,
): Promise<SharedPort> {
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    const look = () => {
      const first: Buffer | null = socket.read();
      if (first === null) return;
      socket.unshift(first);
      const known = Math.min(first.length, HTTP2.length);
      const isHttp2 = first.subarray(0, known).equals(HTTP2.subarray(0, known));
      if (isHttp2 && known < HTTP2.length) return;
      socket.off('readable', look);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      if (isHttp2) injector.injectConnection(socket);
      else http.emit('connection', socket);
    };
    socket.on('readable', look);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      injector.destroy();
      grpc.forceShutdown();
      for (const socket of sockets) socket.destroy();
    },
  };
}
