/**
 * The code of a document, as files that a test can compile and run. A block is a file if a comment before it names the
 * path it would have in the project; what it imports is then found as if it lay there.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Inside the project, so that the code finds the packages it names; ignored by git. */
const FOLDER = join(ROOT, '.cairn');

/** The compiler's findings about the project's own files, which are half of its work: it checks those again that have changed. */
const CHECKED = join(ROOT, 'node_modules/.cache/cairn-types/documents.tsbuildinfo');

export interface Snippets {
  /** The path to which the file was written. */
  at(path: string): string;
  /** The folder of all of them. */
  readonly folder: string;
  remove(): void;
}

/** @param path from the root of the project */
export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Languages of a block of commands; most name none. */
const SHELL: ReadonlySet<string> = new Set(['', 'sh', 'bash']);

/** The code of the blocks of commands, output and other text: those that name no other language. */
export function shellBlocksOf(document: string): string[] {
  // Blocks of every language are matched: the end of one must not count as the beginning of another.
  const blocks = readDocument(document).matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```/gm);
  return [...blocks].flatMap(([, language = '', code = '']) => (SHELL.has(language) ? [code] : []));
}

/** @throws Error if a block of TypeScript has no path: nobody would compile it */
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

/** Documents with code that is a file of the project: from its root. */
export function documentsWithFiles(): string[] {
  const pages = readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`);
  return ['README.md', ...pages.filter((path) => path.endsWith('.md'))].filter((path) =>
    readDocument(path).includes('<!-- file: '),
  );
}

/**
 * Compiles what several documents show at once: the compiler reads the project that they name one time only.
 *
 * @throws Error with what the compiler says
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

/** Imports of what the document does not show lead to the project. */
function resolved(code: string, path: string, files: ReadonlyMap<string, string>): string {
  return code.replace(/(from ')(\.[^']+)(')/g, (statement, before: string, from: string, after: string) => {
    const target = posix.join(posix.dirname(path), from);
    return files.has(target) ? statement : `${before}${join(ROOT, target)}${after}`;
  });
}
