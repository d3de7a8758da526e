/** Link to the page of the Firebase console that creates a missing index, as in production's errors. Pure. */
import { formatFieldPath } from '../field-path.ts';
import type { IndexField } from '../index/index-config.ts';
import type { Query } from './query.ts';

interface MissingIndex {
  readonly scope: Query['scope'];
  readonly fields: readonly IndexField[];
  /** Direction of the name, which follows the fields. */
  readonly nameDescending: boolean;
  /** True for an exemption of one field; false for a composite index. */
  readonly isSingle: boolean;
}

/** Numbers of `google.firestore.admin.v1.Index`, whose encoding is in the link. */
const ORDER = { ascending: 1, descending: 2 } as const;
const CONTAINS = 1;
const INDEX = { name: 1, queryScope: 2, fields: 3 } as const;
const FIELD = { path: 1, order: 2, arrayConfig: 3 } as const;

export function indexLink({ scope, fields, nameDescending, isSingle }: MissingIndex): string {
  const [, project = '', , database = ''] = scope.database.split('/');
  const [only] = fields;
  const entry = isSingle && only ? `fields/${formatFieldPath(only.path)}` : 'indexes/_';
  const name = `${scope.database}/collectionGroups/${scope.collectionId}/${entry}`;
  const named = isSingle ? [] : [field('__name__', nameDescending ? 'descending' : 'ascending')];
  const index = Buffer.concat([
    text(INDEX.name, Buffer.from(name)),
    number(INDEX.queryScope, scope.allDescendants ? 2 : 1),
    ...fields.map(({ path, kind }) => field(formatFieldPath(path), kind)),
    ...named,
  ]);
  const place = database === '(default)' ? 'firestore' : `firestore/databases/${database}`;
  const action = isSingle ? 'create_exemption' : 'create_composite';
  return `https://console.firebase.google.com/v1/r/project/${project}/${place}/indexes?${action}=${index.toString('base64url')}`;
}

function field(path: string, kind: IndexField['kind']): Buffer {
  const direction =
    kind === 'contains' ? number(FIELD.arrayConfig, CONTAINS) : number(FIELD.order, ORDER[kind]);
  return text(INDEX.fields, Buffer.concat([text(FIELD.path, Buffer.from(path)), direction]));
}

const number = (id: number, value: number) => Buffer.from([id << 3, value]);
const text = (id: number, bytes: Buffer) =>
  Buffer.concat([Buffer.from([(id << 3) | 2, ...varint(bytes.length)]), bytes]);

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
