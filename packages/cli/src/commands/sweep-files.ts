/** Finds sweeps by the name of a file, a workflow or a sweep. */
import { existsSync, globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Sweep } from 'cairn/testing';
import { closest } from '../arguments/closest.ts';
import { Declined, EXIT } from '../exit.ts';

const FILES = '**/*.sweep.{ts,mts,js,mjs}';
/** Packages, data, and build output. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'lib', 'dist', 'build']);

/** @throws Declined if no sweep is found, or a file cannot be loaded or exports none */
export async function sweepsNamed(word: string, cwd: string): Promise<readonly Sweep[]> {
  const file = resolve(cwd, word);
  // A folder may have the name of a workflow.
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile || /[/\\]|\.\w*[jt]s$/.test(word)) return sweepsOf(file);
  const found = globSync(FILES, {
    cwd,
    exclude: (name) => SKIPPED.has(name) || (name.startsWith('.') && name !== '.'),
  }).toSorted();
  if (found.length === 0) throw noFiles(word, cwd);
  const all: { readonly sweep: Sweep; readonly types: readonly string[] }[] = [];
  for (const path of found)
    for (const sweep of await sweepsOf(join(cwd, path))) all.push({ sweep, types: sweep.types() });
  const named = all.filter(({ sweep, types }) => sweep.name === word || types.includes(word));
  if (named.length > 0) return named.map(({ sweep }) => sweep);
  const names = [...new Set(all.flatMap(({ sweep, types }) => [sweep.name, ...types]))];
  const near = closest(word, names);
  throw new Declined(
    `no sweep has a workflow '${word}'`,
    near === undefined
      ? `Sweeps and their workflows in ${found.join(', ')}: ${names.join(', ')}.`
      : `Did you mean '${near}'?`,
    EXIT.notFound,
  );
}

function noFiles(word: string, cwd: string): Declined {
  return new Declined(
    `no sweep has a workflow '${word}': there is no file *.sweep.ts or *.sweep.js below ${cwd}`,
    `Write ${word}.sweep.ts, as docs/testing.md shows, or name another file.`,
    EXIT.notFound,
  );
}

async function sweepsOf(file: string): Promise<readonly Sweep[]> {
  if (!existsSync(file))
    throw new Declined(
      `${file} does not load: there is no such file`,
      'Name a module with sweeps, such as test/order.sweep.ts. docs/testing.md shows one.',
    );
  const module = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new Declined(
      `${file} does not load: ${(error as Error).message}`,
      'If Node cannot run this TypeScript, compile it and name the compiled file.',
    );
  });
  const sweeps = Object.values(module as Record<string, unknown>).filter(isSweep);
  if (sweeps.length === 0) {
    throw new Declined(
      `${file} exports no sweep`,
      "Export one: export const order = defineSweep({ name: 'order', arrange() { … } }), with defineSweep from cairn/testing.",
    );
  }
  return sweeps;
}

function isSweep(value: unknown): value is Sweep {
  return (value as Sweep | null)?.kind === 'sweep';
}
