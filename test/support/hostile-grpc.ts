/**
 * A gRPC server that misbehaves on request, in front of a working one, to test callers while a Google service is down and after it
 * recovers. Handles any method of any service.
 */
import { connect, constants, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createListener, type Server, type Socket } from 'node:net';

/**
 * `deaf`: accepts connections, but sends no byte. `silent`: accepts requests, but never answers. A number: answers each request with that
 * gRPC status. `well`: forwards each request.
 */
export type Mood = 'deaf' | 'silent' | 'well' | number;

export class HostileGrpc {
  mood: Mood = 'well';
  /** Received requests, by the last part of their path. */
  readonly requests: string[] = [];
  readonly #upstream: string;
  readonly #http: Http2Server;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();

  /** @param upstream `host:port` of the working server */
  constructor(upstream: string) {
    this.#upstream = upstream;
    this.#http = createServer();
    this.#http.on('stream', (stream, headers) => this.#take(stream, headers));
    this.#http.on('sessionError', () => {});
    this.#listener = createListener((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
      if (this.mood !== 'deaf') this.#http.emit('connection', socket);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#listener.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  /** Closes connections without answers, with their waiting requests, so that clients reconnect. */
  heal(): void {
    const wasAsleep = this.mood === 'deaf' || this.mood === 'silent';
    this.mood = 'well';
    if (wasAsleep) for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#listener.close(resolve));
  }

  #take(stream: ServerHttp2Stream, headers: Record<string, unknown>): void {
    stream.on('error', () => {});
    this.requests.push(String(headers[':path']).split('/').at(-1) as string);
    if (this.mood === 'well') this.#passOn(stream, headers);
    else if (typeof this.mood === 'number') refuse(stream, this.mood);
  }

  #passOn(stream: ServerHttp2Stream, { ':authority': _, ...headers }: Record<string, unknown>): void {
    const session = connect(`http://${this.#upstream}`);
    session.on('error', () => stream.destroy());
    const request = session.request(headers as Record<string, string>);
    let trailers: Record<string, string> = {};
    request.on('error', () => stream.destroy());
    request.on('response', ({ ':status': status, ...rest }, flags) => {
      // A refusal consists of headers only.
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond({ ':status': status, ...rest }, endStream ? { endStream } : { waitForTrailers: true });
    });
    request.on('trailers', (sent) => {
      trailers = sent as Record<string, string>;
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => session.destroy());
    stream.pipe(request);
    request.pipe(stream);
  }
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': String(status),
      'grpc-message': 'the service is hostile',
    },
    { endStream: true },
  );
}
