/** The update time of a document as the opaque text of the ports, to the nanosecond. */
import { Timestamp } from '@google-cloud/firestore';
import type { Version } from '../ports/run-store.ts';

export function versionOf(updateTime: Timestamp): Version {
  return `${updateTime.seconds}.${String(updateTime.nanoseconds).padStart(9, '0')}`;
}

/** The precondition that nobody wrote the document since. @throws Error for a text that is no version */
export function lastUpdateTime(version: Version): { lastUpdateTime: Timestamp } {
  const [, seconds, nanoseconds] = /^(\d+)\.(\d{9})$/.exec(version) ?? [];
  if (seconds === undefined) throw new Error(`'${version}' is not the version of a document`);
  return { lastUpdateTime: new Timestamp(Number(seconds), Number(nanoseconds)) };
}
