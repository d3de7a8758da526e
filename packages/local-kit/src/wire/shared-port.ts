/**
 * One loopback port for gRPC, HTTP/1.1 and frames (frames.ts). The first bytes of a connection identify its protocol, and the connection
 * is passed to that server in this process. This costs one check per connection and nothing per gRPC call.
 */
import type { Server as HttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { type Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import { listenOnLoopback } from '../http/listen.ts';
import type { ServeFrames } from './frame-server.ts';
import { PREFACE } from './frames.ts';

/** First bytes of the preface of HTTP/2; no method of HTTP/1.1 begins with them. */
const HTTP2 = Buffer.from('PRI');
/** A new connection without data for this time is closed, because all clients send first. */
const SILENCE_MS = 60_000;

export interface SharedPort {
  /** `127.0.0.1:port` */
  readonly host: string;
  /** Stops listening and cuts every connection. */
  close(): void;
}

/** @param port 0 takes a free one */
export async function listenForBoth(
  {
    grpc,
    http,
    frames,
  }: { readonly grpc: GrpcServer; readonly http: HttpServer; readonly frames: ServeFrames },
  port: number,
): Promise<SharedPort> {
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    const onReadable = () => {
      const first: Buffer | null = socket.read();
      if (first === null) return;
      socket.unshift(first);
      if ([HTTP2, PREFACE].some((preface) => first.length < preface.length && begins(preface, first))) return;
      socket.off('readable', onReadable);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      if (begins(first, HTTP2)) injector.injectConnection(socket);
      else if (begins(first, PREFACE)) frames(socket);
      else http.emit('connection', socket);
    };
    socket.on('readable', onReadable);
  });
  const listening = await listenOnLoopback(server, port);
  return {
    host: `127.0.0.1:${listening}`,
    close() {
      server.close();
      injector.destroy();
      grpc.forceShutdown();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function begins(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.subarray(0, prefix.length).equals(prefix);
}
