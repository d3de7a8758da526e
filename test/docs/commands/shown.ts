/** Finds every command in the README, the documents and the READMEs of packages and examples, in blocks of code, sentences and tables. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, shellBlocksOf } from '../snippets.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface Shown {
  readonly document: string;
  /** On one line, except texts that have several; without comments. */
  readonly command: string;
  /** True within a sentence or table, where a command may have no arguments. */
  readonly isInText: boolean;
}

const PROGRAMS = 'npm|npx|cairn|git|node|curl|gcloud|firebase|gh|jq';
const VARIABLES = String.raw`(?:[A-Z_]+=\S*\s+)*`;
const FIRST = new RegExp(`^${VARIABLES}(?:${PROGRAMS}) `);
const TAKEN = /^(?:export )?[A-Z_]+="?\$\((.*)\)"?$/;

export function shownCommands(): Shown[] {
  return documents().flatMap((document) => [
    ...shellBlocksOf(document)
      .flatMap(commandsIn)
      .map((command) => ({ document, command, isInText: false })),
    ...inTextOf(document).map((command) => ({ document, command, isInText: true })),
  ]);
}

function documents(): string[] {
  const inside = (folder: string, name: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.includes('node_modules') && path.split('/').at(-1)?.endsWith(name))
      .map((path) => `${folder}/${path}`);
  const own = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  return [
    'README.md',
    ...own.map((name) => `docs/${name}`),
    ...inside('packages', 'README.md'),
    ...inside('examples', 'README.md'),
  ].toSorted();
}

/** Commands within sentences and tables, e.g. `npm start`; a code span may go on over the end of a line. */
function inTextOf(document: string): string[] {
  const text = readDocument(document).replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  return [...text.matchAll(/`([^`]+)`/g)]
    .map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
    .filter((code) => FIRST.test(code))
    .flatMap(pipedIn);
}

function commandsIn(code: string): string[] {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of code.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
    const command = line.trim().replace(/^\$ /, '');
    // A quoted text continues on the next line.
    if (isOpen) lines.push(`${lines.pop()}\n${line}`);
    else lines.push(command.replace(/\s+#\s.*$/, ''));
    isOpen = unquoted(lines.at(-1) ?? '').includes("'");
  }
  return lines
    .map(withoutVariable)
    .flatMap(pipedIn)
    .filter((command) => FIRST.test(command));
}

/** The command whose output is assigned to a shell variable, or the line itself. */
export function withoutVariable(line: string): string {
  return TAKEN.exec(line)?.[1] ?? line;
}

/** Commands of a pipe, one by one. */
function pipedIn(line: string): string[] {
  const hidden = line.replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => '_'.repeat(quoted.length));
  const bars = [...hidden.matchAll(/ \| /g)].map(({ index }) => index);
  return [...bars, line.length].map((end, i) => line.slice(i === 0 ? 0 : (bars[i - 1] ?? 0) + 3, end).trim());
}

function unquoted(text: string): string {
  return text.replaceAll(/'[^']*'|"[^"]*"/g, '');
}
