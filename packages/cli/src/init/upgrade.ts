/** Plans how a codebase that `init` made gets the installed version of Cairn, newer or older than its own. Pure. */
import { firestoreIndexes } from 'cairn/indexes';
import { readableJson, withMember } from './firebase-json.ts';
import type { FileChange } from './plan.ts';
import type { InstalledPackage } from './project.ts';
import { encodeRecord, type InitRecord, recordPath, sha256 } from './record.ts';
import { json } from './templates.ts';

export interface UpgradePlan {
  /** The record is first. */
  readonly changes: readonly FileChange[];
  /** Tarballs that nothing names afterwards. */
  readonly unused: readonly string[];
  /** Changes that are left to the user. */
  readonly advice: readonly string[];
}

/** A dependency as `init` writes it: others are the user's own. */
const BY_INIT = /^(?:file:packages\/.*\.tgz|\d+\.\d+\.\d+\S*)$/;
/** Characters of a hash that distinguish tarballs of one version. */
const HASH_CHARS = 8;

/** @returns undefined: the codebase has the installed version, or does not name any */
export function upgradeOf(
  record: InitRecord,
  installed: InstalledPackage,
  read: (path: string) => Uint8Array | undefined,
): UpgradePlan | undefined {
  const { name } = record;
  const within = (path: string) => `${name}/${path}`;
  const manifest = textOf(read(within('package.json')));
  const current = manifest && dependencyIn(manifest);
  if (manifest === undefined || current === undefined || !BY_INIT.test(current)) return undefined;
  const tarball = /^file:(.*\.tgz)$/.exec(current)?.[1];
  const wanted = wantedOf(installed, { tarball, read: (path) => read(within(path)) });
  if (wanted === undefined || (wanted.dependency === current && !wanted.tarball)) return undefined;
  const changes: FileChange[] = [];
  if (wanted.tarball)
    changes.push({
      path: within(wanted.tarball.path),
      before: undefined,
      after: wanted.tarball.content,
      what: ['the package cairn: a deployment sees only this folder'],
    });
  const isAsWritten = (path: string) => {
    const now = read(path);
    return now !== undefined && record.created.some((one) => one.path === path && one.sha256 === sha256(now));
  };
  const indexes = within('firestore.indexes.json');
  const before = textOf(read(indexes));
  const after = json(firestoreIndexes(`${name}_`));
  const advice: string[] = [];
  if (before !== after && isAsWritten(indexes))
    changes.push({ path: indexes, before, after: Buffer.from(after), what: ['indexes of this version'] });
  else if (before !== after)
    advice.push(
      `${indexes} was edited: compare it with the output of cairn indexes --prefix ${name}_, and add what it lacks.`,
    );
  // Last: by it the next init sees whether this one was interrupted.
  if (wanted.dependency !== current)
    changes.push({
      path: within('package.json'),
      before: manifest,
      after: Buffer.from(withMember(manifest, ['dependencies', 'cairn'], wanted.dependency)),
      what: [`needs cairn ${installed.version}`],
    });
  const isUnused = tarball !== undefined && wanted.dependency !== current && isAsWritten(within(tarball));
  const unused = isUnused ? [within(tarball)] : [];
  const recorded = recordAfter(record, {
    version: installed.version,
    changes: changes.filter(({ path, before: text }) => text === undefined || isAsWritten(path)),
    isThere: (path) => read(path) !== undefined,
    text: textOf(read(recordPath(name))),
  });
  return { changes: [recorded, ...changes], unused, advice };
}

interface Wanted {
  /** As in a package.json. */
  readonly dependency: string;
  readonly tarball?: { readonly path: string; readonly content: Uint8Array };
}

interface CurrentPackage {
  /** From the folder of the codebase, as what `read` takes. */
  readonly tarball: string | undefined;
  readonly read: (path: string) => Uint8Array | undefined;
}

/** Undefined: it is there. */
function wantedOf({ version, tarball: given }: InstalledPackage, { tarball, read }: CurrentPackage) {
  if (given === undefined) return { dependency: version };
  const { fileName, content } = given;
  const isSame = (path: string) => {
    const there = read(path);
    return there !== undefined && sha256(there) === sha256(content);
  };
  if (tarball !== undefined && isSame(tarball)) return undefined;
  const plain = `packages/${fileName}`;
  // Another name for other content of the same version: a lock file has the hash of a path.
  const path =
    read(plain) === undefined
      ? plain
      : plain.replace(/\.tgz$/, `-${sha256(content).slice(0, HASH_CHARS)}.tgz`);
  const wanted: Wanted = { dependency: `file:${path}`, ...(!isSame(path) && { tarball: { path, content } }) };
  return wanted;
}

interface RecordedUpgrade {
  readonly version: string;
  /** Files that are as `init` wrote them. */
  readonly changes: readonly FileChange[];
  isThere(path: string): boolean;
  /** Text of the stored record. */
  readonly text: string | undefined;
}

function recordAfter(record: InitRecord, { version, changes, isThere, text }: RecordedUpgrade): FileChange {
  const written = changes.map(({ path, after }) => ({ path, sha256: sha256(after) }));
  const isWritten = (path: string) => written.some((one) => one.path === path);
  const kept = record.created.filter(({ path }) => !isWritten(path) && isThere(path));
  return {
    path: recordPath(record.name),
    before: text,
    after: Buffer.from(encodeRecord({ ...record, cairn: version, created: [...kept, ...written] })),
    what: ['what was changed, for --undo'],
  };
}

function dependencyIn(manifest: string): string | undefined {
  const { dependencies } = (readableJson(manifest) ?? {}) as { dependencies?: { cairn?: unknown } };
  return typeof dependencies?.cairn === 'string' ? dependencies.cairn : undefined;
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('utf8');
}
