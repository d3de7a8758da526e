/**
 * Record of the changes of `init`, kept in the new folder for `--undo`: hashes of written files, and the earlier text of edited
 * files.
 */
import { createHash } from 'node:crypto';
import type { Entries } from './firebase-json.ts';
import { isMembers } from './json.ts';
import { InitProblem } from './problem.ts';

export interface Created {
  readonly path: string;
  readonly sha256: string;
  /** Hash of the content that an upgrade replaces; after an interruption the file may still have it. */
  readonly replaced?: string;
}

export interface Edited extends Created {
  /** UTF-8 text; null if the file was created. */
  readonly before: string | null;
}

export interface InitRecord {
  readonly version: 1;
  /** Version of Cairn. */
  readonly cairn: string;
  readonly name: string;
  readonly created: readonly Created[];
  readonly edited: readonly Edited[];
  /** Added to `firebase.json`. */
  readonly entries: Entries;
  /** Added to `.gitignore`. */
  readonly ignored: readonly string[];
}

export function recordPath(name: string): string {
  return `${name}/init-record.json`;
}

export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** True for a content that `init` wrote. */
export function isAsWritten({ sha256: hash, replaced }: Created, content: Uint8Array): boolean {
  const now = sha256(content);
  return now === hash || now === replaced;
}

/** @throws InitProblem RECORD_DAMAGED */
export function decodeRecord(text: string, expectedName: string): InitRecord {
  const path = recordPath(expectedName);
  let value: Partial<InitRecord> | null;
  try {
    value = JSON.parse(text) as Partial<InitRecord> | null;
  } catch {
    throw damaged(path, 'it is not JSON');
  }
  if (value?.version !== 1) throw damaged(path, 'its version is unknown here');
  const { created, edited, entries, ignored, name } = value;
  const isWhole =
    name === expectedName &&
    isList(created, isCreated) &&
    isList(edited, isEdited) &&
    isList(ignored, (line) => typeof line === 'string') &&
    isMembers(entries?.functions) &&
    isMembers(entries.firestore);
  if (!isWhole) throw damaged(path, 'members of it are missing or have other values');
  return value as InitRecord;
}

function damaged(path: string, why: string): InitProblem {
  return new InitProblem(
    'RECORD_DAMAGED',
    `${path} cannot be read: ${why}`,
    `Restore it from version control. Without it, remove what cairn init added by hand: its folder, its entries in firebase.json and its lines in .gitignore.`,
  );
}

function isCreated(value: unknown): value is Created {
  if (!isMembers(value)) return false;
  const { path, sha256: hash, replaced = '' } = value;
  return (
    typeof path === 'string' && isInside(path) && typeof hash === 'string' && typeof replaced === 'string'
  );
}

function isEdited(value: unknown): value is Edited {
  if (!isCreated(value)) return false;
  const { before } = value as Partial<Edited>;
  return typeof before === 'string' || before === null;
}

/** A record may come from version control, so its paths must not leave the project. */
function isInside(path: string): boolean {
  return !path.startsWith('/') && !/^[A-Za-z]:|\\/.test(path) && !path.split('/').includes('..');
}

function isList(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}
