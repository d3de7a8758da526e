/** Changes a codebase that `init` made to the installed version of Cairn, newer or older. */
import { firestoreIndexes } from 'cairn/indexes';
import { apply, removeUnplacedBy } from './edits.ts';
import type { Files } from './files.ts';
import { readableJson, withMember } from './firebase-json.ts';
import { missingLines, withLines } from './ignore-file.ts';
import { json } from './json.ts';
import type { FileChange } from './plan.ts';
import { InitProblem } from './problem.ts';
import type { InstalledPackage, Project } from './project.ts';
import { type Edited, type InitRecord, isAsWritten, recordPath, sha256 } from './record.ts';
import { PNPM_SETTINGS, PNPM_WORKSPACE } from './templates.ts';

export interface UpgradePlan {
  /** The record is first, so that an interrupted upgrade can be undone. */
  readonly changes: readonly FileChange[];
  /** Tarballs that are no longer used. */
  readonly unused: readonly string[];
  /** Changes that are left to the user. */
  readonly advice: readonly string[];
  /** True if only `.gitignore` changes, so that there is nothing to install or deploy. */
  readonly onlyIgnores: boolean;
}

type UpgradeSource = Pick<Project, 'installed' | 'packageManager'>;
type Read = (path: string) => Uint8Array | undefined;

/** A dependency in the form that `init` writes. Any other form is the user's. */
const BY_INIT = /^(?:file:packages\/.*\.tgz|\d+\.\d+\.\d+\S*)$/;
/** Length of the hash that distinguishes tarballs of one version. */
const HASH_CHARS = 8;

/**
 * Decides by the files that exist, so that it completes an upgrade interrupted at any point.
 *
 * @returns undefined if the codebase has the installed version, or names none
 */
export function upgradeOf(
  record: InitRecord,
  { installed, packageManager }: UpgradeSource,
  read: Read,
): UpgradePlan | undefined {
  const { name } = record;
  const within = (path: string) => `${name}/${path}`;
  const dependency = dependencyOf(record, read);
  if (dependency === undefined) return undefined;
  const { manifest, current } = dependency;
  const wanted = wantedOf(installed, { current, read: (path) => read(within(path)) });
  const settings: FileChange[] =
    packageManager === 'pnpm' && read(within(PNPM_SETTINGS)) === undefined
      ? [
          created(
            within(PNPM_SETTINGS),
            Buffer.from(PNPM_WORKSPACE),
            'makes it a project of its own for pnpm',
          ),
        ]
      : [];
  const isOurs = (path: string) => {
    const now = read(path);
    return now !== undefined && record.created.some((one) => one.path === path && isAsWritten(one, now));
  };
  const tarballs = record.created.map(({ path }) => path).filter((path) => path.endsWith('.tgz'));
  const unused = tarballs.filter((path) => path !== within(pathOf(wanted.dependency)) && isOurs(path));
  const hasVersion = wanted.dependency === current && !wanted.tarball;
  const ignores = addedIgnores(record, {
    text: textOf(read(IGNORES)),
    // Any other `tsconfig.json` is the user's, for example for `checkJs`.
    isCompiled: record.created.some(({ path }) => path === within('tsconfig.json')),
    hasTarball: wanted.dependency.startsWith('file:'),
  });
  const isDone = hasVersion && [...unused, ...settings].length === 0;
  if (isDone && ignores.changes.length === 0) return undefined;
  const indexes = hasVersion ? NOTHING : changedIndexes(name, { read, isOurs });
  const changes = [...settings, ...indexes.changes];
  if (wanted.tarball) {
    const { path, content } = wanted.tarball;
    changes.unshift(created(within(path), content, 'the package cairn: a deployment sees only this folder'));
  }
  // Written last: it tells the next init that this one was complete.
  if (wanted.dependency !== current)
    changes.push({
      path: within('package.json'),
      before: manifest,
      after: Buffer.from(withMember(manifest, ['dependencies', 'cairn'], wanted.dependency)),
      what: [`needs cairn ${installed.version}`],
    });
  const recorded = recordAfter(ignores.record, {
    version: installed.version,
    changes: changes.filter(({ path, before }) => before === undefined || isOurs(path)),
    isThere: (path) => read(path) !== undefined,
    text: textOf(read(recordPath(name))),
  });
  return {
    changes: [recorded, ...ignores.changes, ...changes],
    unused,
    advice: indexes.advice,
    onlyIgnores: isDone,
  };
}

/** @throws InitProblem CHANGED_MEANWHILE, WRITE_FAILED; after a WRITE_FAILED the next `init` completes the upgrade */
export function applyUpgrade(name: string, { changes, unused }: UpgradePlan, files: Files): void {
  removing(() => removeUnplacedBy(name, files));
  apply(changes, files);
  removing(() => {
    for (const path of unused) files.remove(path);
  });
}

function removing(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    throw new InitProblem(
      'WRITE_FAILED',
      `what this version does not need cannot be removed: ${(error as Error).message}`,
      'Correct the named problem, then run cairn init again: it continues where it stopped.',
    );
  }
}

type ChangedIndexes = Pick<UpgradePlan, 'changes' | 'advice'>;

const NOTHING: ChangedIndexes = { changes: [], advice: [] };

interface CodebaseFiles {
  readonly read: Read;
  /** True for a file that is as `init` wrote it. */
  isOurs(path: string): boolean;
}

function changedIndexes(name: string, { read, isOurs }: CodebaseFiles): ChangedIndexes {
  const path = `${name}/firestore.indexes.json`;
  const before = textOf(read(path));
  const after = json(firestoreIndexes(`${name}_`));
  if (before === after) return NOTHING;
  if (isOurs(path))
    return {
      changes: [{ path, before, after: Buffer.from(after), what: ['indexes of this version'] }],
      advice: [],
    };
  const command = `cairn indexes --prefix ${name}_`;
  return {
    changes: [],
    advice: [`${path} was edited: compare it with the output of ${command}, and add what it lacks.`],
  };
}

const IGNORES = '.gitignore';

interface IgnoreFile {
  readonly text: string | undefined;
  readonly isCompiled: boolean;
  readonly hasTarball: boolean;
}

interface AddedIgnores {
  readonly changes: readonly FileChange[];
  /** The record with these lines. */
  readonly record: InitRecord;
}

/** Lines that an earlier version did not write. A recorded line that is gone was removed by a person and is not added again. */
function addedIgnores(record: InitRecord, { text, isCompiled, hasTarball }: IgnoreFile): AddedIgnores {
  const edited = record.edited.find(({ path }) => path === IGNORES);
  // The record is written first, so a record with these lines and a file without them mean an interruption.
  const isInterrupted = text !== undefined && edited?.replaced === sha256(text);
  const missing = missingLines(text ?? '', { name: record.name, isCompiled, hasTarball });
  const lines = missing.filter((line) => isInterrupted || !record.ignored.includes(line));
  const after = withLines(text, lines);
  if (after === undefined) return { changes: [], record };
  const others = record.edited.filter((one) => one !== edited);
  const isOurs = edited === undefined || isAsWritten(edited, Buffer.from(text ?? ''));
  const recorded: Edited = isOurs
    ? {
        path: IGNORES,
        sha256: sha256(after),
        ...(text !== undefined && { replaced: sha256(text) }),
        before: edited ? edited.before : (text ?? null),
      }
    : edited;
  return {
    changes: [{ path: IGNORES, before: text, after: Buffer.from(after), what: [`adds ${lines.join(', ')}`] }],
    record: {
      ...record,
      edited: [...others, recorded],
      ignored: [...new Set([...record.ignored, ...lines])],
    },
  };
}

interface Wanted {
  /** As in a package.json. */
  readonly dependency: string;
  /** Absent if the tarball exists. */
  readonly tarball?: { readonly path: string; readonly content: Uint8Array };
}

interface CurrentPackage {
  /** As in a package.json. */
  readonly current: string;
  /** Takes paths relative to the codebase. */
  readonly read: Read;
}

function wantedOf({ version, tarball: given }: InstalledPackage, { current, read }: CurrentPackage): Wanted {
  if (given === undefined) return { dependency: version };
  const { fileName, content } = given;
  const isSame = (path: string) => {
    const there = read(path);
    return there !== undefined && sha256(there) === sha256(content);
  };
  if (isSame(pathOf(current))) return { dependency: current };
  const plain = `packages/${fileName}`;
  // Other content of the same version needs another name, because a lock file stores a hash for each path.
  const path =
    read(plain) === undefined || isSame(plain)
      ? plain
      : plain.replace(/\.tgz$/, `-${sha256(content).slice(0, HASH_CHARS)}.tgz`);
  return { dependency: `file:${path}`, ...(!isSame(path) && { tarball: { path, content } }) };
}

/** Path relative to the codebase; for a version number no such file exists. */
function pathOf(dependency: string): string {
  return dependency.replace(/^file:/, '');
}

function created(path: string, content: Uint8Array, what: string): FileChange {
  return { path, before: undefined, after: content, what: [what] };
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
  const written = changes.map(({ path, before, after }) => ({
    path,
    sha256: sha256(after),
    ...(before !== undefined && { replaced: sha256(before) }),
  }));
  const isWritten = (path: string) => written.some((one) => one.path === path);
  const kept = record.created.filter(({ path }) => !isWritten(path) && isThere(path));
  return {
    path: recordPath(record.name),
    before: text,
    after: Buffer.from(json({ ...record, cairn: version, created: [...kept, ...written] })),
    what: ['what was changed, for --undo'],
  };
}

/** True if `init` manages the version of Cairn in the codebase. */
export function isVersioned(record: InitRecord, read: Read): boolean {
  return dependencyOf(record, read) !== undefined;
}

/** Undefined if the codebase has no such dependency, or one of the user's own. */
function dependencyOf({ name }: InitRecord, read: Read) {
  const manifest = textOf(read(`${name}/package.json`));
  const { dependencies } = (readableJson(manifest ?? '') ?? {}) as { dependencies?: { cairn?: unknown } };
  const current = dependencies?.cairn;
  if (manifest === undefined || typeof current !== 'string' || !BY_INIT.test(current)) return undefined;
  return { manifest, current };
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('utf8');
}
