import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Linter } from 'eslint';
import cairn from '../../packages/cairn/src/eslint.ts';
import * as parser from '../../scripts/lint/typescript-parser.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Written as a user writes them. */
const FOLDERS = ['examples', 'functions/src', 'packages/agents/src'];

const config = [{ ...cairn.configs.recommended, files: ['**/*.ts'], languageOptions: { parser } }];

function linted(path: string, text: string): string[] {
  const messages = new Linter().verify(text, config, { filename: path });
  return messages.map(({ line, message }) => `${path}:${line} ${message}`);
}

function read(path: string) {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`${folder}/${name.replaceAll('\\', '/')}`)),
);
const snippets = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => {
    const { path, text } = read(`docs/${name}`);
    const blocks = text.matchAll(/^```(?:ts|js)\n(.*?)^```/gms);
    return [...blocks].map(([, code = ''], i) => ({ path: `${path}.${i}.ts`, text: code }));
  })
  .filter(({ text }) => /\bflow\b/.test(text));

describe('the lint rules report nothing in', () => {
  test('the flows of the examples, the shipped workflows and the loop of agents', () => {
    expect(sources.flatMap(({ path, text }) => linted(path, text))).toEqual([]);
  });

  test('the flows of the documents', () => {
    expect(snippets.flatMap(({ path, text }) => linted(path, text))).toEqual([]);
  });
});

describe('the lint rules report mistakes in the flows of', () => {
  /** Each operation that is awaited, as if it were not. */
  const spoiled = (text: string) => text.replaceAll(/\bawait (?=(?:flow\.\w+|runAgent)\()/g, '');

  test.each(['examples/order/delivery.ts', 'examples/research/agent.ts'])('%s', (path) => {
    const { text } = read(path);
    expect(spoiled(text)).not.toBe(text);
    expect(linted(path, spoiled(text))).not.toEqual([]);
  });

  test('the documents', () => {
    const found = snippets.filter(({ path, text }) => linted(path, spoiled(text)).length > 0);
    expect(found.map(({ path }) => path)).toContain('docs/flows.md.0.ts');
  });
});
