/**
 * Documents that are read and written as a whole, by compare-and-set on their version.
 *
 * `what` names the call in errors, such as `read of a schedule`.
 */
import { type DocumentReference, FieldValue, type WriteResult } from '@google-cloud/firestore';
import type { CompareAndSetResult, Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import type { DocumentCodec, Members } from './codec/kinds.ts';
import { lastUpdateTime, versionOf } from './version.ts';

interface Versioned<T> {
  readonly value: T;
  readonly version: Version;
}

type SendWrite = () => Promise<WriteResult>;

/** Returns undefined if the document does not exist. @param name of the document, for the error if it cannot be decoded */
export async function readVersioned<T>(
  document: DocumentReference,
  { decode }: Pick<DocumentCodec<T>, 'decode'>,
  { what, name }: { readonly what: string; readonly name: string },
): Promise<Versioned<T> | undefined> {
  const found = await call(what, () => document.get());
  const data = found.data();
  if (!data || !found.updateTime) return undefined;
  return { value: decode(data, name), version: versionOf(found.updateTime) };
}

/** Returns the new version; undefined if the document exists, and nothing was written. */
export function createdVersion(what: string, create: SendWrite): Promise<Version | undefined> {
  return versionUnless(isTaken, what, create);
}

/** Returns the new version; undefined if another write won, or the document was deleted. */
export function changedVersion(what: string, change: SendWrite): Promise<Version | undefined> {
  return versionUnless(isStale, what, change);
}

/** @param seen the version last seen; undefined: the document must not exist */
export async function writeVersioned(
  document: DocumentReference,
  what: string,
  { members, seen }: { readonly members: Members; readonly seen: Version | undefined },
): Promise<CompareAndSetResult> {
  const isRefusal = (error: unknown) => isTaken(error) || isStale(error);
  const version = await versionUnless(isRefusal, what, () =>
    seen === undefined ? document.create(members) : document.update(members, lastUpdateTime(seen)),
  );
  return version === undefined ? { kind: 'stale' } : { kind: 'written', version };
}

/** An update that replaces the whole document: only updates can carry the precondition of a version. */
export function wholeUpdate<T>({ names, encode }: DocumentCodec<T>, value: T): Members {
  const members = encode(value);
  return Object.fromEntries(names.map((name) => [name, members[name] ?? FieldValue.delete()]));
}

async function versionUnless(
  isRefusal: (error: unknown) => boolean,
  what: string,
  write: SendWrite,
): Promise<Version | undefined> {
  try {
    const { writeTime } = await call(what, write);
    return versionOf(writeTime);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}
