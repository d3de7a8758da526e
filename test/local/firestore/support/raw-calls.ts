/** Calls with requests that the client library would never send, including invalid bytes. */
import { Client, credentials, Metadata, type StatusObject } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { withVerify } from '../../../../packages/local-firestore/src/wire/protocol.ts';
import { loadProtocol } from '../../../../packages/local-kit/src/wire/grpc-service.ts';

const DEADLINE_MS = 120_000;

export interface Answer {
  readonly code: number;
  readonly details: string;
  /** Response messages, decoded with the client's protocol description. */
  readonly messages: readonly Record<string, unknown>[];
}

export class RawCalls {
  readonly #root: protobuf.Root;
  readonly #client: Client;

  readonly #version: string;

  constructor(host: string, version = 'v1') {
    this.#version = version;
    this.#root = loadProtocol('@google-cloud/firestore-api', 'build/protos/protos.json', withVerify);
    this.#client = new Client(host, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 });
  }

  encode(method: string, request: object): Buffer {
    const type = this.#method(method).resolvedRequestType as protobuf.Type;
    return Buffer.from(type.encode(type.fromObject(request)).finish());
  }

  call(method: string, request: object): Promise<Answer> {
    return this.send(method, this.encode(method, request));
  }

  send(method: string, bytes: Buffer): Promise<Answer> {
    const { resolvedResponseType } = this.#method(method);
    const type = resolvedResponseType as protobuf.Type;
    const same = (b: Buffer) => b;
    const path = `/google.firestore.${this.#version}.Firestore/${method}`;
    const deadline = { deadline: Date.now() + DEADLINE_MS };
    return new Promise((resolve) => {
      // A server stream can read both one answer and many.
      const call = this.#client.makeServerStreamRequest(path, same, same, bytes, new Metadata(), deadline);
      const messages: Record<string, unknown>[] = [];
      call.on('data', (data: Buffer) => messages.push(type.toObject(type.decode(data), { longs: Number })));
      call.on('error', () => undefined);
      call.on('status', ({ code, details }: StatusObject) => resolve({ code, details, messages }));
    });
  }

  close(): void {
    this.#client.close();
  }

  #method(name: string): protobuf.Method {
    const method = this.#root.lookupService('google.firestore.v1.Firestore').methods[name];
    if (!method) throw new Error(`No such call: ${name}`);
    return method.resolve() as protobuf.Method;
  }
}
