/** Every command that the README, the documents and the READMEs of packages and examples show in a block of code. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shellBlocksOf } from '../snippets.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface Shown {
  readonly document: string;
  /** On one line, but for texts that have several; without comments. */
  readonly command: string;
}

/** Programs and words of the shell that begin a command. A block without one shows something else, such as an output. */
const FIRST =
  /^(?:[A-Z_]+=\S*\s+)*(?:npm|npx|cairn|curl|gcloud|firebase|gh|jq|export|rm|for|do|done|cairn\(\)|[A-Z_]+=)(?=[\s(=]|$)|^[A-Z_]+=/;

export function shownCommands(): Shown[] {
  return documents().flatMap((document) =>
    shellBlocksOf(document).flatMap((code) => commandsIn(code).map((command) => ({ document, command }))),
  );
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

function commandsIn(code: string): string[] {
  const commands: string[] = [];
  let isOpen = false;
  for (const line of code.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
    const said = line.trim().replace(/^\$ /, '');
    // A quoted text goes on over the end of the line.
    if (isOpen) commands.push(`${commands.pop()}\n${line}`);
    else if (FIRST.test(said)) commands.push(said.replace(/\s+#\s.*$/, ''));
    else continue;
    const unquoted = (commands.at(-1) ?? '').replaceAll(/'[^']*'|"[^"]*"/g, '');
    isOpen = unquoted.includes("'");
  }
  return commands;
}
