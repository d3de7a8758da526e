/** A Listen stream without the client library, which records every message. */
import { Client, type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { loadProtocol } from '../../../../packages/local-kit/src/wire/grpc-service.ts';
import { database } from '../support/requests.ts';
import { Seen } from './seen.ts';

export interface Message {
  readonly targetChange?: {
    readonly targetChangeType: string;
    readonly targetIds?: readonly number[];
    readonly cause?: { readonly code: number; readonly message: string };
    readonly resumeToken?: string;
    readonly readTime?: { readonly seconds: number; readonly nanos: number };
  };
  readonly documentChange?: {
    readonly document: { readonly name: string };
    readonly targetIds?: readonly number[];
    readonly removedTargetIds?: readonly number[];
  };
  readonly documentDelete?: Gone;
  readonly documentRemove?: Gone;
  readonly filter?: { readonly targetId: number; readonly count?: number };
}

interface Gone {
  readonly document: string;
  readonly removedTargetIds?: readonly number[];
}

const PATH = '/google.firestore.v1.Firestore/Listen';

export class RawStream {
  readonly seen = new Seen<Message>();
  readonly #client: Client;
  readonly #request: protobuf.Type;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;

  constructor(host: string) {
    const listen = loadProtocol('@google-cloud/firestore', 'build/protos/v1.json')
      .lookupService('google.firestore.v1.Firestore')
      .methods.Listen?.resolve() as protobuf.Method;
    this.#request = listen.resolvedRequestType as protobuf.Type;
    const answer = listen.resolvedResponseType as protobuf.Type;
    this.#client = new Client(host, credentials.createInsecure());
    const same = (b: Buffer) => b;
    this.#stream = this.#client.makeBidiStreamRequest(PATH, same, same);
    this.#stream.on('data', (data: Buffer) =>
      this.seen.push(
        answer.toObject(answer.decode(data), { longs: Number, enums: String, bytes: String }) as Message,
      ),
    );
    this.#stream.on('error', (error) => this.seen.fail(error));
  }

  add(target: object): void {
    this.send({ database, addTarget: target });
  }

  remove(id: number): void {
    this.send({ database, removeTarget: id });
  }

  send(request: object): void {
    this.#stream.write(Buffer.from(this.#request.encode(this.#request.fromObject(request)).finish()));
  }

  /** Waits for the next consistent moment, and returns the messages since the last one. */
  async moment(): Promise<readonly Message[]> {
    const from = this.#told;
    const isMoment = (m: Message) =>
      m.targetChange?.targetChangeType === 'NO_CHANGE' && !m.targetChange.targetIds?.length;
    await this.seen.until((all) => all.slice(from).some(isMoment));
    const at = this.seen.all.findIndex((m, i) => i >= from && isMoment(m));
    this.#told = at + 1;
    return this.seen.all.slice(from, at + 1);
  }

  #told = 0;

  /** Stops reading, so that the messages of the server stay in transit. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  close(): void {
    this.#stream.end();
    this.#client.close();
  }
}

/** A message in few words: its kind, the document's path, and which targets it concerns. */
export function brief(message: Message): string {
  const { targetChange, documentChange, documentDelete, documentRemove, filter } = message;
  if (targetChange) return [targetChange.targetChangeType, ...(targetChange.targetIds ?? [])].join(' ');
  if (filter) return `filter ${filter.targetId} ${filter.count ?? 0}`;
  if (documentChange) {
    const removed = (documentChange.removedTargetIds ?? []).map((id) => -id);
    const ids = [...(documentChange.targetIds ?? []), ...removed];
    return ['shown', pathOf(documentChange.document.name), ...ids].join(' ');
  }
  const [kind, gone] = documentDelete ? ['deleted', documentDelete] : ['out', documentRemove];
  const ids = (gone?.removedTargetIds ?? []).map((id) => -id);
  return [kind, pathOf(gone?.document ?? ''), ...ids].join(' ');
}

function pathOf(name: string): string {
  return name.slice(name.indexOf('/documents/') + '/documents/'.length);
}
