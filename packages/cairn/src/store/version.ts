/** The update time of a document as the opaque text of the ports, to the nanosecond. */
import { Timestamp } from '@google-cloud/firestore';
import type { Version } from '../ports/run-store.ts';

export function versionOf(updateTime: Timestamp): Version {
  return `${updateTime.seconds}.${String(updateTime.nanoseconds).padStart(9, '0')}`;
}

/** Precondition that the document is unchanged. @throws Error for an invalid version */
export function lastUpdateTime(version: Version): { lastUpdateTime: Timestamp } {
  const [, seconds, nanoseconds] = /^(\d+)\.(\d{9})$/.exec(version) ?? [];
  if (seconds === undefined) throw new Error(`'${version}' is not the version of a document`);
  return { lastUpdateTime: new Timestamp(Number(seconds), Number(nanoseconds)) };
}
