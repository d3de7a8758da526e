/** Plans the changes of `init` to a project, or refuses. Pure. */
import { servingRefusal } from '../node-version.ts';
import { adviceOf } from './advice.ts';
import type { Entries } from './firebase-json.ts';
import { withEntries } from './firebase-json.ts';
import { missingLines, withLines } from './ignore-file.ts';
import { json } from './json.ts';
import { initOf } from './naming.ts';
import { InitProblem } from './problem.ts';
import type { Language, Project } from './project.ts';
import { type InitRecord, recordPath, sha256 } from './record.ts';
import { type FoundRegion, regionOf } from './region.ts';
import { templatesOf } from './templates.ts';

export interface FileChange {
  readonly path: string;
  /** Undefined if the file is created. */
  readonly before: string | undefined;
  readonly after: Uint8Array;
  /** Descriptions of the change, one line each. */
  readonly what: readonly string[];
}

export interface InitPlan {
  /** The record is first, so that an interrupted `init` can be undone. */
  readonly changes: readonly FileChange[];
  readonly region: FoundRegion;
  /** Changes that are left to the user. */
  readonly advice: readonly string[];
}

interface PlanOptions {
  readonly name: string;
  /** Default: the language of the project's codebases. */
  readonly language: Language | undefined;
  /** Default: the region of the project's functions, if a file names it. */
  readonly region?: string | undefined;
  /** `process.versions.node` */
  readonly nodeVersion: string;
  /** True if a file of this name exists, or a folder that has files. */
  readonly isTaken: boolean;
}

/** Valid as name of an export, a codebase, a folder, functions and a Firestore database (at least four characters). */
const NAME = /^[a-z][a-z0-9]{3,19}$/;
const RESERVED =
  /^(?:await|break|case|catch|class|const|continue|debugger|default|delete|else|enum|export|extends|false|finally|function|import|instanceof|interface|null|package|private|protected|public|return|static|super|switch|this|throw|true|typeof|void|while|with|yield)$/;
const RUNTIMES = ['22', '24'];
const NEWEST_RUNTIME = '24';

/** @throws InitProblem NODE_TOO_OLD, ALREADY_ADOPTED, NAME_TAKEN, REGION_INVALID */
export function planOf(project: Project, options: PlanOptions): InitPlan {
  assertNode(options.nodeVersion);
  assertFree(project, options);
  const { name } = options;
  const { firebaseJson, gitignore, codebases, installed, packageManager } = project;
  const language = options.language ?? (codebases.some((one) => one.language === 'ts') ? 'ts' : 'js');
  const major = options.nodeVersion.split('.')[0] ?? '';
  const node = RUNTIMES.includes(major) ? major : NEWEST_RUNTIME;
  const region = regionOf(project, options.region);
  const created = templatesOf({ name, language, node, region: region.region, installed, packageManager }).map(
    ({ path, content, what }): FileChange => ({
      path: `${name}/${path}`,
      before: undefined,
      after: Buffer.from(content),
      what: [what],
    }),
  );
  const entries = entriesOf(name, { language, region: region.region });
  const ignored = missingLines(gitignore ?? '', {
    name,
    isCompiled: language === 'ts',
    hasTarball: installed.tarball !== undefined,
  });
  const edited: FileChange[] = [
    {
      path: 'firebase.json',
      before: firebaseJson.text,
      after: Buffer.from(withEntries(firebaseJson.text, entries)),
      what: whatOf(project, name),
    },
  ];
  const lines = withLines(gitignore, ignored);
  if (lines !== undefined)
    edited.push({
      path: '.gitignore',
      before: gitignore,
      after: Buffer.from(lines),
      what: [`adds ${ignored.join(', ')}`],
    });
  const record = recordOf({ name, cairn: installed.version, created, edited, entries, ignored });
  return {
    changes: [record, ...created, ...edited],
    region,
    advice: adviceOf(project, { name, files: created.map(({ path }) => path) }),
  };
}

interface EntryOptions {
  readonly language: Language;
  /** Region of the functions. */
  readonly region: string;
}

/** Entries of Cairn's codebase and database in `firebase.json`. */
function entriesOf(name: string, { language, region }: EntryOptions): Entries {
  return {
    functions: {
      source: name,
      codebase: name,
      ignore: ['node_modules', '.git', '*.log', '*.local', 'init-record.json'],
      ...(language === 'ts' && { predeploy: ['npm --prefix "$RESOURCE_DIR" run build'] }),
    },
    firestore: {
      database: name,
      // Without it, firebase-tools creates a multi-region database, which costs twice as much and cannot be moved.
      location: region,
      rules: `${name}/firestore.rules`,
      indexes: `${name}/firestore.indexes.json`,
    },
  };
}

function whatOf({ firebaseJson }: Project, name: string): string[] {
  const { firestore } = firebaseJson.read;
  const isUnnamed = firestore.some(({ database, target }) => database === undefined && target === undefined);
  return [
    `adds the codebase '${name}' to 'functions'`,
    `adds the database '${name}' to 'firestore'`,
    ...(isUnnamed ? ["names the database of your entry there: '(default)', as before"] : []),
  ];
}

interface RecordedChanges extends Pick<InitRecord, 'name' | 'cairn' | 'entries' | 'ignored'> {
  readonly created: readonly FileChange[];
  readonly edited: readonly FileChange[];
}

function recordOf({ created, edited, ...rest }: RecordedChanges): FileChange {
  const hashed = ({ path, after }: FileChange) => ({ path, sha256: sha256(after) });
  const record: InitRecord = {
    version: 1,
    ...rest,
    created: created.map(hashed),
    edited: edited.map((change) => ({ ...hashed(change), before: change.before ?? null })),
  };
  return {
    path: recordPath(rest.name),
    before: undefined,
    after: Buffer.from(json(record)),
    what: ['what was changed, for --undo'],
  };
}

function assertNode(version: string): void {
  const refusal = servingRefusal(version);
  if (refusal === undefined) return;
  throw new InitProblem(
    'NODE_TOO_OLD',
    refusal,
    'Install Node 24, which Cloud Functions runs too, then run cairn init again.',
  );
}

/** Must be called before the name becomes part of a path. @throws InitProblem NAME_INVALID */
export function assertName(name: string): void {
  if (NAME.test(name) && !RESERVED.test(name)) return;
  throw new InitProblem(
    'NAME_INVALID',
    `'${name}' cannot be the name of a codebase, a database and an export`,
    '--name takes 4 to 20 lower-case letters and digits, the first one a letter, and no word of JavaScript.',
  );
}

function assertFree({ codebases, firebaseJson }: Project, { name, isTaken }: PlanOptions): void {
  const adopted = codebases.find(({ entryTexts }) =>
    entryTexts.some((text) => text.includes('cairnFunctions(')),
  );
  if (adopted !== undefined)
    throw new InitProblem(
      'ALREADY_ADOPTED',
      `the codebase '${adopted.name}' has functions of Cairn already`,
      `Add your workflows there. If cairn init added it, ${initOf(adopted.name)} gives it the installed version. docs/adopt.md explains how to add a second installation.`,
    );
  if (!isTaken && codebases.some((one) => one.name === name && one.source === name))
    throw new InitProblem(
      'NAME_TAKEN',
      `firebase.json has a codebase '${name}', but its folder ${name}/ has no sources or is not there`,
      `Restore the folder from version control, or remove '${name}' from 'functions' and 'firestore' of firebase.json, then run cairn init again. Nothing was changed.`,
    );
  const taken = takenBy(name, { codebases, firebaseJson, isTaken });
  if (taken !== undefined)
    throw new InitProblem('NAME_TAKEN', taken, 'Choose another name with --name NAME. Nothing was changed.');
}

interface ProjectSource extends Pick<Project, 'codebases' | 'firebaseJson'> {
  readonly isTaken: boolean;
}

function takenBy(name: string, { codebases, firebaseJson, isTaken }: ProjectSource): string | undefined {
  if (isTaken) return `there is a file or folder '${name}' already`;
  if (codebases.some((one) => one.name === name)) return `firebase.json has a codebase '${name}' already`;
  if (firebaseJson.read.firestore.some(({ database }) => database === name))
    return `firebase.json has a database '${name}' already`;
  const prefixed = codebases.find(({ prefix }) => prefix === name);
  if (prefixed) return sameNames(`the codebase '${prefixed.name}' has the prefix '${name}'`);
  const owner = codebases.find(({ entryTexts }) => entryTexts.some((text) => exportsName(text, name)));
  return owner && sameNames(`the codebase '${owner.name}' exports '${name}' already`);
}

const sameNames = (what: string) => `${what}, so that functions could have the same name`;

/** Searched characters of an object of exports, so that a large bundle does not take long. */
const MAX_LIST_CHARS = 5_000;

/** Searches text, not syntax. A false match requires another `--name`; a missed export makes the deployment fail. */
function exportsName(text: string, name: string): boolean {
  const patterns = [
    `\\bexport\\s+(?:const|let|var|function|class)\\s+${name}\\b`,
    `\\bexport\\s*(?:\\*\\s*as\\s+${name}\\b|\\{(?:[^}]*[\\s,])?${name}\\s*[,}])`,
    `\\bexports(?:\\.${name}|\\[\\s*(['"\`])${name}\\1\\s*\\])\\s*=`,
    `\\bmodule\\.exports\\s*=\\s*\\{(?:[^;]{0,${MAX_LIST_CHARS}}[\\s,])?${name}\\s*[:,}]`,
  ];
  return patterns.some((pattern) => new RegExp(pattern).test(text));
}
