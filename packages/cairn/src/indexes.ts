/** `cairn/indexes`: the entries of `firestore.indexes.json` for an installation, for deployments and the local cloud. */
export type {
  CompositeIndex,
  FieldOverride,
  FirestoreIndexes,
  IndexedField,
} from './store/layout/indexes.ts';
export { firestoreIndexes } from './store/layout/indexes.ts';
