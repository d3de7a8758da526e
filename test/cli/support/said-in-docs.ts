/** The command lines that the documents show. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shellBlocksOf } from '../../docs/snippets.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface SaidLine {
  readonly document: string;
  readonly line: string;
  /** The words after `cairn`, up to a pipe, a redirection or a comment. */
  readonly words: readonly string[];
}

/** Every line of a code block that calls the command line, as `cairn …` or through npm. */
export function saidInDocs(): SaidLine[] {
  const documents = readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return ['README.md', ...documents].flatMap(saidIn);
}

function saidIn(document: string): SaidLine[] {
  const lines = shellBlocksOf(document).flatMap((code) => code.replaceAll('\\\n', ' ').split('\n'));
  return lines.flatMap((line) => {
    const [, said] = /^(?:\$ )?(?:.* \| )?(?:npm run cairn -- |cairn )(?!\W*…)(.*)$/.exec(line) ?? [];
    return said === undefined ? [] : [{ document, line, words: wordsOf(said) }];
  });
}

/** Splits a line like a shell, up to a pipe, a redirection or a comment. */
export function wordsOf(line: string): string[] {
  const [said = ''] = line.split(/ (?:[|<>]|#) /);
  const words = said.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return [...words].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}
