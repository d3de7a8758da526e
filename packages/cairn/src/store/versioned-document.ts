/** A document that is read and written as a whole, by compare-and-set on its version. */
import type { DocumentReference } from '@google-cloud/firestore';
import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import type { Members } from './codec/kinds.ts';
import { lastUpdateTime, versionOf } from './version.ts';

/** Undefined: there is none. @param what names the document in errors */
export async function readVersioned(
  document: DocumentReference,
  what: string,
): Promise<{ readonly data: Members; readonly version: Version } | undefined> {
  const found = await call(`read of ${what}`, () => document.get());
  const data = found.data();
  if (!data || !found.updateTime) return undefined;
  return { data, version: versionOf(found.updateTime) };
}

/** @param seen the version last seen; undefined: there must be none yet */
export async function writeVersioned(
  document: DocumentReference,
  what: string,
  { members, seen }: { readonly members: Members; readonly seen: Version | undefined },
): Promise<CompareAndSetResult> {
  try {
    const { writeTime } = await call(`write of ${what}`, () =>
      seen === undefined ? document.create(members) : document.update(members, lastUpdateTime(seen)),
    );
    return { kind: 'written', version: versionOf(writeTime) };
  } catch (error) {
    if (isTaken(error) || isStale(error)) return { kind: 'stale' };
    throw error;
  }
}
