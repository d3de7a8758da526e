/**
 * Documents of a run as they are found: their decoded content, or the reason why decoding failed. Never throws for a document.
 *
 * Must not: read anything itself; see firestore-integrity-store.ts.
 */
import { Timestamp } from '@google-cloud/firestore';
import { sha256Hex } from '../../core/encoding/hash.ts';
import type {
  FoundCheckpoint,
  FoundDocument,
  FoundEvent,
  FoundSnapshot,
} from '../../core/integrity/found.ts';
import { NewerSchemaError, SCHEMA_VERSION } from '../../core/run/events.ts';
import type { StepRecord } from '../../core/run/records.ts';
import { messageOf } from '../../core/thrown.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../codec/journal.ts';
import type { Members } from '../codec/kinds.ts';
import { decodeSnapshot } from '../codec/snapshot.ts';
import { salvageMetadata } from '../codec/volatile-metadata.ts';
import { namedBy, restored } from '../pages/spill.ts';
import type { FoundPages } from './pages-in-place.ts';

export interface RawDocument {
  readonly id: string;
  readonly version: string;
  readonly members: Members;
}

/** @param pages those that the document names; undefined: it names none */
export function foundSnapshot(document: RawDocument, pages?: FoundPages): FoundSnapshot {
  const { members } = document;
  const { metadata, damaged } = salvageMetadata(members);
  return {
    ...found(document, () => {
      if (!pages) return decodeSnapshot(members, 'the run document');
      const lost = namedBy(pages.names).find((name) => !pages.texts.has(name));
      if (lost !== undefined) throw new Error(`page ${lost} is missing or damaged`);
      return decodeSnapshot(restored(members, pages.names, pages.texts), 'the run document');
    }),
    metadata,
    metadataDamage: damaged,
    wakeAt: members.wakeAt instanceof Timestamp ? members.wakeAt.toMillis() : undefined,
    askingSince: timeOrOther(members.askingSince),
    foundBy: members.foundBy,
    listed: members.listed,
    waitsFor: members.waitsFor,
    tenantId: typeof members.tenantId === 'string' ? members.tenantId : undefined,
    headHash: typeof members.headHash === 'string' ? members.headHash : undefined,
  };
}

/** Null if the member is not a time. */
function timeOrOther(member: unknown): number | null | undefined {
  if (member === undefined) return undefined;
  return member instanceof Timestamp ? member.toMillis() : null;
}

export function foundEvent(document: RawDocument): FoundEvent {
  return found(document, () => eventCodec.decode(document.members, 'the event'));
}

/** The output is dropped after hashing. */
export function foundCheckpoint(document: RawDocument): FoundDocument<FoundCheckpoint> {
  return found(document, () => {
    const { outputText, ...checkpoint } = checkpointCodec.decode(document.members, 'the checkpoint');
    return { checkpoint, ...(outputText === undefined ? {} : { outputSha: sha256Hex(outputText) }) };
  });
}

export function foundStep(document: RawDocument): FoundDocument<StepRecord> {
  return found(document, () => stepCodec.decode(document.members, 'the step'));
}

/** @param decode throws if the document cannot be decoded */
export function found<T>({ id, version, members }: RawDocument, decode: () => T): FoundDocument<T> {
  try {
    return { id, version, kind: 'sound', value: decode() };
  } catch (error) {
    const { schemaVersion } = members;
    if (
      error instanceof NewerSchemaError &&
      typeof schemaVersion === 'number' &&
      schemaVersion > SCHEMA_VERSION
    )
      return { id, version, kind: 'newer', schemaVersion };
    return { id, version, kind: 'unreadable', reason: messageOf(error) };
  }
}
