/** Reference for the bytes of a batch: its writes as protocol objects, encoded by the protocol's own encoder. */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import type { protos } from '@google-cloud/firestore-api';
import type { Members } from '../../packages/cairn/src/store/codec/kinds.ts';
import { incrementOf } from '../../packages/cairn/src/store/commits/increment.ts';
import type { CommitPrecondition, StoreBatch } from '../../packages/cairn/src/store/commits/store-batch.ts';

type Write = protos.google.firestore.v1.IWrite;
type Value = protos.google.firestore.v1.IValue;
type Transform = protos.google.firestore.v1.DocumentTransform.IFieldTransform;
type Fields = { [name: string]: Value };

/** Enums as numbers, not names, because frames encode messages unchanged. */
const REQUEST_TIME = 1;
const NULL_VALUE = 0;

const DELETE = FieldValue.delete();
const NOW = FieldValue.serverTimestamp();

export class ObjectBatch implements StoreBatch {
  readonly #database: string;
  readonly #writes: Write[] = [];

  constructor(database: string) {
    this.#database = database;
  }

  get writes(): readonly Write[] {
    return this.#writes;
  }

  create(path: string, members: Members): this {
    this.#writes.push({ ...this.#whole(path, members), currentDocument: { exists: false } });
    return this;
  }

  set(path: string, members: Members): this {
    this.#writes.push(this.#whole(path, members));
    return this;
  }

  /** Members by field path; a dot addresses a member of a map. Deletes, server times and increments are those of the client library. */
  update(path: string, members: Members, { lastUpdateTime }: CommitPrecondition = {}): this {
    const fields: Fields = {};
    const fieldPaths: string[] = [];
    const updateTransforms: Transform[] = [];
    for (const [fieldPath, member] of Object.entries(members)) {
      const by = incrementOf(member);
      if (member === NOW) updateTransforms.push({ fieldPath, setToServerValue: REQUEST_TIME });
      else if (by !== undefined) updateTransforms.push({ fieldPath, increment: encodeValue(by, fieldPath) });
      else {
        fieldPaths.push(fieldPath);
        if (member !== DELETE) place(fields, fieldPath, encodeValue(member, fieldPath));
      }
    }
    this.#writes.push({
      update: { name: this.#nameOf(path), fields },
      updateMask: { fieldPaths },
      updateTransforms,
      currentDocument: lastUpdateTime ? { updateTime: protoTime(lastUpdateTime) } : { exists: true },
    });
    return this;
  }

  delete(path: string): this {
    this.#writes.push({ delete: this.#nameOf(path) });
    return this;
  }

  commit(): Promise<never> {
    return Promise.reject(new Error('only to be looked at'));
  }

  #whole(path: string, members: Members): Write {
    return { update: { name: this.#nameOf(path), fields: fieldsOf(members) } };
  }

  #nameOf(path: string): string {
    return `${this.#database}/documents/${path}`;
  }
}

function place(fields: Fields, fieldPath: string, value: Value): void {
  const [outer = '', inner, ...deeper] = fieldPath.split('.');
  if (deeper.length > 0) throw new Error(`field path '${fieldPath}' is too deep`);
  if (inner === undefined) {
    fields[outer] = value;
    return;
  }
  const map = fields[outer]?.mapValue ?? { fields: {} };
  fields[outer] = { mapValue: { fields: { ...map.fields, [inner]: value } } };
}

function fieldsOf(members: Members): Fields {
  const fields: Fields = {};
  for (const [name, member] of Object.entries(members)) fields[name] = encodeValue(member, name);
  return fields;
}

function encodeValue(member: unknown, name: string): Value {
  switch (typeof member) {
    case 'string':
      return { stringValue: member };
    case 'boolean':
      return { booleanValue: member };
    case 'number':
      return Number.isSafeInteger(member) ? { integerValue: member } : { doubleValue: member };
    case 'object':
      if (member === null) return { nullValue: NULL_VALUE };
      if (member instanceof Timestamp) return { timestampValue: protoTime(member) };
      if (Array.isArray(member))
        return { arrayValue: { values: member.map((one) => encodeValue(one, name)) } };
      if (Object.getPrototypeOf(member) === Object.prototype) {
        return { mapValue: { fields: fieldsOf(member as Members) } };
      }
  }
  throw new Error(`member '${name}' has a kind that no codec writes`);
}

function protoTime(time: Timestamp): { seconds: number; nanos: number } {
  return { seconds: time.seconds, nanos: time.nanoseconds };
}
