/** Indexes of the local Firestore: those of the project's file, and those of the installations it serves. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { IndexesFile } from '@cairn/local-firestore/indexes';
import { parseJsonc } from './jsonc.ts';

/**
 * An entry of several files is used once; the first definition of a field wins.
 *
 * @returns undefined: none are declared
 */
export function mergedIndexes(files: readonly IndexesFile[]): IndexesFile | undefined {
  if (files.length === 0) return undefined;
  const indexes = files.flatMap((file) => file.indexes ?? []);
  const overrides = files.flatMap((file) => file.fieldOverrides ?? []);
  return {
    indexes: firstOfEach(indexes, (index) => JSON.stringify(index)),
    fieldOverrides: firstOfEach(
      overrides,
      ({ collectionGroup, fieldPath }) => `${collectionGroup}/${fieldPath}`,
    ),
  };
}

interface FirestoreConfig {
  readonly indexes?: string;
}

/** @returns the contents of the index files that a `firebase.json` names, of all databases; empty without the file */
export function indexesOf(firebaseJson: string): IndexesFile[] {
  if (!existsSync(firebaseJson)) return [];
  const { firestore = [] } = parseJsonc(readFileSync(firebaseJson, 'utf8')) as {
    readonly firestore?: FirestoreConfig | readonly FirestoreConfig[];
  };
  return [firestore].flat().flatMap(({ indexes }) => {
    if (indexes === undefined) return [];
    const file = resolve(dirname(firebaseJson), indexes);
    return [parseJsonc(readFileSync(file, 'utf8')) as IndexesFile];
  });
}

function firstOfEach<T>(entries: readonly T[], keyOf: (entry: T) => string): T[] {
  const first = new Map<string, T>();
  for (const entry of entries) if (!first.has(keyOf(entry))) first.set(keyOf(entry), entry);
  return [...first.values()];
}
