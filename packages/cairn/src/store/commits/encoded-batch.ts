/**
 * A write batch that encodes its commit itself, to the same bytes as the protocol's own encoder (a test compares them). The
 * client library's batch checks, copies and traces every value again and encodes it through an intermediate object, which took
 * most of the time of a busy worker. Accepts only values that the codecs write, and throws for others before anything is sent.
 */
import { FieldValue, type Timestamp } from '@google-cloud/firestore';
import type { Members } from '../codec/kinds.ts';
import { incrementOf } from './increment.ts';
import { ProtoWriter } from './proto-writer.ts';
import type { CommitChannel, CommitPrecondition, StoreBatch } from './store-batch.ts';

/** Field numbers of `google.firestore.v1`. */
const REQUEST = { database: 1, writes: 2 } as const;
const WRITE = { update: 1, delete: 2, updateMask: 3, currentDocument: 4, updateTransforms: 7 } as const;
const DOCUMENT = { name: 1, fields: 2 } as const;
const ENTRY = { key: 1, value: 2 } as const;
const MASK = { fieldPaths: 1 } as const;
const TRANSFORM = { fieldPath: 1, setToServerValue: 2, increment: 3 } as const;
const PRECONDITION = { exists: 1, updateTime: 2 } as const;
const REQUEST_TIME = 1;

const DELETE = FieldValue.delete();
const NOW = FieldValue.serverTimestamp();

/** Shared by all writes, because each is encoded synchronously. */
const writer = new ProtoWriter();

export class EncodedBatch implements StoreBatch {
  readonly #channel: CommitChannel;
  readonly #writes: Uint8Array[] = [];
  #deletes = 0;

  constructor(channel: CommitChannel) {
    this.#channel = channel;
  }

  create(path: string, members: Members): this {
    return this.#add(() => {
      writer.message(WRITE.currentDocument, () => writer.boolean(PRECONDITION.exists, false));
      this.#document(path, members);
    });
  }

  set(path: string, members: Members): this {
    return this.#add(() => this.#document(path, members));
  }

  update(path: string, members: Members, { lastUpdateTime }: CommitPrecondition = {}): this {
    const fields: Members = {};
    const fieldPaths: string[] = [];
    const transforms: [fieldPath: string, by: number | undefined][] = [];
    for (const fieldPath of Object.keys(members)) {
      const member = members[fieldPath];
      const by = incrementOf(member);
      if (member === NOW || by !== undefined) transforms.push([fieldPath, by]);
      else {
        fieldPaths.push(fieldPath);
        if (member !== DELETE) place(fields, fieldPath, member);
      }
    }
    return this.#add(() => {
      for (const [fieldPath, by] of transforms.reverse())
        writer.message(WRITE.updateTransforms, () => {
          if (by === undefined) writer.int32(TRANSFORM.setToServerValue, REQUEST_TIME);
          else writer.message(TRANSFORM.increment, () => writer.value(by, fieldPath));
          writer.string(TRANSFORM.fieldPath, fieldPath);
        });
      writer.message(WRITE.currentDocument, () => {
        if (lastUpdateTime) writer.timestamp(PRECONDITION.updateTime, lastUpdateTime);
        else writer.boolean(PRECONDITION.exists, true);
      });
      writer.message(WRITE.updateMask, () => {
        for (const fieldPath of fieldPaths.reverse()) writer.string(MASK.fieldPaths, fieldPath);
      });
      this.#document(path, fields);
    });
  }

  delete(path: string): this {
    this.#deletes += 1;
    return this.#add(() => writer.string(WRITE.delete, this.#nameOf(path)));
  }

  async commit(): Promise<readonly { readonly writeTime: Timestamp }[]> {
    for (const write of this.#writes.toReversed()) writer.bytes(REQUEST.writes, write);
    writer.string(REQUEST.database, this.#channel.database);
    const bytes = writer.finish();
    const writes = this.#writes.length;
    const times = await this.#channel.send({ bytes, writes, deletes: this.#deletes });
    return times.map((writeTime) => ({ writeTime }));
  }

  /** @throws Error for a member of a kind that no codec writes; the batch is then unchanged */
  #add(write: () => void): this {
    try {
      write();
    } catch (error) {
      writer.finish();
      throw error;
    }
    this.#writes.push(writer.finish());
    return this;
  }

  #document(path: string, members: Members): void {
    writer.message(WRITE.update, () => {
      writer.map(DOCUMENT.fields, ENTRY, members);
      writer.string(DOCUMENT.name, this.#nameOf(path));
    });
  }

  #nameOf(path: string): string {
    return `${this.#channel.database}/documents/${path}`;
  }
}

/** Places a member by its field path, in which one dot leads into a map. */
function place(fields: Members, fieldPath: string, member: unknown): void {
  const dot = fieldPath.indexOf('.');
  if (dot < 0) {
    fields[fieldPath] = member;
    return;
  }
  const outer = fieldPath.slice(0, dot);
  const inner = fieldPath.slice(dot + 1);
  if (inner.includes('.')) throw new Error(`field path '${fieldPath}' is too deep`);
  const map = fields[outer];
  fields[outer] = isMap(map) ? { ...map, [inner]: member } : { [inner]: member };
}

function isMap(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
