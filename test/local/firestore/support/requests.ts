/** Requests in the protocol's own terms, for tests that send what the client library would not build. */
import { PROJECT } from './client.ts';

export const database = `projects/${PROJECT}/databases/(default)`;
export const doc = (path: string) => `${database}/documents/${path}`;
export const text = (stringValue: string) => ({ stringValue });
export const one = { integerValue: 1 };
export const set = (path: string, fields: object = { a: one }) => ({ update: { name: doc(path), fields } });
export const transform = (fieldPath: string, what: object = { increment: one }) => ({
  ...set('h/t', {}),
  updateTransforms: [{ fieldPath, ...what }],
});
export const commit = (...writes: object[]) => ({ database, writes });
export const query = (structuredQuery: object) => ({
  parent: `${database}/documents`,
  structuredQuery: { from: [{ collectionId: 'h' }], ...structuredQuery },
});
export const compare = (fieldPath: string, op: string, value: object) => ({
  fieldFilter: { field: { fieldPath }, op, value },
});
export const nested = (levels: number) =>
  Array(levels + 1)
    .fill('a')
    .join('.');

export function vector(values: readonly object[]): { readonly v: object } {
  return { v: { mapValue: { fields: { __type__: text('__vector__'), value: { arrayValue: { values } } } } } };
}
