/**
 * Extracts the code of a document as files that a test can compile and run. A block is a file if a comment before it names its
 * path in the project; its imports are resolved from that path.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Inside the project, so that imports of packages work; ignored by git. */
const FOLDER = join(ROOT, '.cairn');

/** Cache of the compiler for the project's own files, which are half of its work. */
const CHECKED = join(ROOT, 'node_modules/.cache/cairn-types/documents.tsbuildinfo');

export interface Snippets {
  /** Returns the path to which the file was written. */
  at(path: string): string;
  /** Folder of all files. */
  readonly folder: string;
  remove(): void;
}

/** @param path relative to the root of the project */
export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Languages of blocks of commands; most blocks have none. */
const SHELL: ReadonlySet<string> = new Set(['', 'sh', 'bash']);

/** The content of blocks of commands, output and other text, which have no other language. */
export function shellBlocksOf(document: string): string[] {
  // Blocks of every language are matched: the end of one must not count as the beginning of another.
  const blocks = readDocument(document).matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```/gm);
  return [...blocks].flatMap(([, language = '', code = '']) => (SHELL.has(language) ? [code] : []));
}

/** @throws Error if a block of TypeScript has no path, because it would not be compiled */
export function writeSnippets(document: string): Snippets {
  const text = readDocument(document);
  const blocks = [...text.matchAll(/(?:<!-- file: (\S+) -->\n)?```ts\n([\s\S]*?)```/g)];
  const files = new Map(
    blocks.map(([block, path, code = '']) => {
      if (path === undefined) throw new Error(`${document}: no path is given for the code\n${block}`);
      return [path, code] as const;
    }),
  );
  if (files.size === 0) throw new Error(`${document} shows no code`);
  mkdirSync(FOLDER, { recursive: true });
  const own = mkdtempSync(join(FOLDER, 'docs-'));
  for (const [path, code] of files) {
    const file = join(own, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, resolved(code, path, files));
  }
  return {
    folder: own,
    at: (path) => join(own, path),
    remove: () => rmSync(own, { recursive: true, force: true }),
  };
}

/** Documents with code that is a file, relative to the root of the project. */
export function documentsWithFiles(): string[] {
  const pages = readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`);
  return ['README.md', ...pages.filter((path) => path.endsWith('.md'))].filter((path) =>
    readDocument(path).includes('<!-- file: '),
  );
}

/**
 * Compiles the code of several documents together, so that the compiler reads the project only once.
 *
 * @throws Error with the output of the compiler
 */
export function compileSnippets(documents: readonly string[]): void {
  const shown = documents.map(writeSnippets);
  const config = mkdtempSync(join(FOLDER, 'docs-'));
  const include = shown.map(({ folder }) => folder);
  const compilerOptions = { incremental: true, tsBuildInfoFile: CHECKED };
  writeFileSync(
    join(config, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), include, compilerOptions }),
  );
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' });
  } catch (error) {
    const where = documents.map((path, i) => `${path} lies in ${include[i]}`).join('\n');
    throw new Error(`the documents do not compile:\n${(error as { stdout: string }).stdout}\n${where}`);
  } finally {
    for (const one of shown) one.remove();
    rmSync(config, { recursive: true, force: true });
  }
}

/** Resolves imports of files that the document does not show to the project. */
function resolved(code: string, path: string, files: ReadonlyMap<string, string>): string {
  return code.replace(/(from ')(\.[^']+)(')/g, (statement, before: string, from: string, after: string) => {
    const target = posix.join(posix.dirname(path), from);
    return files.has(target) ? statement : `${before}${join(ROOT, target)}${after}`;
  });
}
