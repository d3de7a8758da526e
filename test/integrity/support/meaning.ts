/** Meaning of documents for their readers, whatever their bytes: distinguishes damage from harmless changes. */
import { Timestamp } from '@google-cloud/firestore';
import { comparableText, isSameValue } from '../../../packages/cairn/src/core/integrity/differing.ts';
import {
  foundCheckpoint,
  foundEvent,
  foundSnapshot,
  foundStep,
} from '../../../packages/cairn/src/store/integrity/found-documents.ts';
import type { Folder, Shelf } from './shelf.ts';

const FOLDERS = ['runs', 'events', 'checkpoints', 'steps'] as const;
const READ = { events: foundEvent, checkpoints: foundCheckpoint, steps: foundStep };
/** A run may be looked at later than it was to be, as far as the scan and operators put it off. */
const MAY_BE_PUT_OFF_MS = 25 * 3_600_000;

/** The first place whose meaning changed; undefined: none. */
export function changedMeaning(was: Shelf, is: Shelf): string | undefined {
  for (const folder of FOLDERS)
    for (const id of idsOf(folder, was, is)) {
      if (!isSameValue(meaningOf(was, folder, id), meaningOf(is, folder, id))) return `${folder}/${id}`;
    }
  const [before, after] = [wakeAtOf(was), wakeAtOf(is)];
  return before !== undefined && (after ?? Number.POSITIVE_INFINITY) > before + MAY_BE_PUT_OFF_MS
    ? 'wakeAt'
    : undefined;
}

export function idsOf(folder: Folder, ...shelves: readonly Shelf[]): ReadonlySet<string> {
  return new Set(shelves.flatMap((shelf) => [...shelf.folders[folder].keys()]));
}

/** Meaning of the run document without volatile metadata and without its wake time, which are not checked. */
export function meaningOf(shelf: Shelf, folder: Folder, id: string): unknown {
  const document = shelf.folders[folder].get(id);
  if (!document) return undefined;
  const raw = { id, ...document };
  if (folder !== 'runs') {
    const { version: _, ...found } = READ[folder](raw);
    return found;
  }
  const found = foundSnapshot(raw);
  if (found.kind !== 'sound') return { kind: found.kind };
  return {
    ...found.value,
    steps: comparableText(found.value.steps),
    askingSince: found.askingSince,
    foundBy: comparableText(found.foundBy),
  };
}

function wakeAtOf({ folders, runId }: Shelf): number | undefined {
  const at = folders.runs.get(runId)?.members.wakeAt;
  return at instanceof Timestamp ? at.toMillis() : undefined;
}

/** To the byte. */
export function isUntouched(was: Shelf, is: Shelf): boolean {
  return isSameValue(bytesOf(was), bytesOf(is));
}

function bytesOf(shelf: Shelf): unknown {
  const text = (_: string, value: unknown) => (value instanceof Timestamp ? String(value.toMillis()) : value);
  return shelf
    .all()
    .map((document) => JSON.stringify(document, text))
    .sort();
}
