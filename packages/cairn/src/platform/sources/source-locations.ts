/**
 * Locations in the project's source for positions in loaded files, through the source map of a bundle, if it is beside the bundle or
 * in it. A map is read once, at the first request for a position of its file.
 *
 * Must not: report an absolute path, or fail. If something cannot be read, the position in the loaded file is reported.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CodePosition, SourceLocations } from '../../ports/source-locations.ts';
import { originalPosition } from './mappings.ts';

/** Largest file and largest map that are read. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Cached files and positions: more than the code of an installation has. */
const MAX_FILES = 200;
const MAX_POSITIONS = 5_000;
/** Longest location, in characters. A longer one is truncated at the beginning. */
const MAX_CHARS = 160;

/** Files of libraries. Includes this project's own files if it runs from its source. */
const INSTALLED = /(^|\/)node_modules\//;
const OWN_LIBRARY = /(^|\/)packages\/(agents|cairn)\/src\//;

interface Loaded {
  /** Folder to which paths are relative; undefined: none was found. */
  readonly root: string | undefined;
  readonly map?: { readonly mappings: string; readonly sources: readonly string[] };
}

/** `path` is in the reported form, with slashes. */
interface SourceLine {
  readonly path: string;
  readonly line: number;
}

export class FileSourceLocations implements SourceLocations {
  readonly #files = new Map<string, Loaded>();
  readonly #places = new Map<string, SourceLine>();

  of(calls: readonly CodePosition[]): string | undefined {
    const places = calls.flatMap((call) => this.#placeOf(call) ?? []);
    const projects = places.filter(({ path }) => !INSTALLED.test(path));
    const place = projects.find(({ path }) => !OWN_LIBRARY.test(path)) ?? projects[0];
    if (!place) return undefined;
    const text = `${place.path}:${place.line}`;
    return text.length <= MAX_CHARS ? text : `…${text.slice(text.length - MAX_CHARS + 1)}`;
  }

  #placeOf(call: CodePosition): SourceLine | undefined {
    const key = `${call.file}:${call.line}:${call.column}`;
    const known = this.#places.get(key);
    if (known) return known;
    const place = this.#lookUp(call);
    if (place && this.#places.size < MAX_POSITIONS) this.#places.set(key, place);
    return place;
  }

  #lookUp({ file: given, line, column }: CodePosition): SourceLine | undefined {
    const file = pathOf(given);
    if (file === undefined) return undefined;
    const loaded = this.#loaded(file);
    const { map } = loaded;
    const origin = map && originalPosition(map.mappings, { line, column });
    const source = origin && map?.sources[origin.source];
    const place = source === undefined || !origin ? { file, line } : { file: source, line: origin.line };
    return { path: shown(place.file, loaded.root), line: place.line };
  }

  #loaded(file: string): Loaded {
    const known = this.#files.get(file);
    if (known) return known;
    const loaded = { root: rootOf(file), ...mapOf(file) };
    if (this.#files.size < MAX_FILES) this.#files.set(file, loaded);
    return loaded;
  }
}

/** Undefined for the runtime's own code, and for code without a file. */
function pathOf(file: string): string | undefined {
  try {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    return isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** The project's folder, otherwise that of the package. A deployed function is only a package. */
function rootOf(file: string): string | undefined {
  let ofPackage: string | undefined;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'firebase.json')) || existsSync(join(folder, '.git'))) return folder;
    if (ofPackage === undefined && existsSync(join(folder, 'package.json'))) ofPackage = folder;
    if (folder === dirname(folder)) return ofPackage;
  }
}

/** Relative to the root. For a file outside of it, only its last folder is shown. */
function shown(file: string, root: string | undefined): string {
  const path = root === undefined ? undefined : relative(root, file);
  const isInside = path !== undefined && !path.startsWith('..') && !isAbsolute(path);
  const parts = isInside ? path.split(sep) : file.split(sep).filter(Boolean);
  const installed = parts.lastIndexOf('node_modules');
  return (isInside ? parts : parts.slice(installed < 0 ? -2 : installed)).join('/');
}

/** Undefined for a file without a map, and for one with an invalid map. */
function mapOf(file: string): Pick<Loaded, 'map'> {
  try {
    const text = mapTextOf(file);
    if (text === undefined) return {};
    const { mappings, sources, sourceRoot } = JSON.parse(text) as Record<string, unknown>;
    if (typeof mappings !== 'string' || !Array.isArray(sources)) return {};
    const from = resolve(dirname(file), typeof sourceRoot === 'string' ? sourceRoot : '');
    return { map: { mappings, sources: sources.map((source) => sourceFile(String(source), from)) } };
  } catch {
    return {};
  }
}

function sourceFile(source: string, from: string): string {
  return source.startsWith('file:') ? fileURLToPath(source) : resolve(from, source);
}

const INLINE = /^data:application\/json[^,]*;base64,/;

function mapTextOf(file: string): string | undefined {
  const url = namedMap(readIfSmall(file) ?? '') ?? `${file}.map`;
  const inline = INLINE.exec(url);
  if (inline) return Buffer.from(url.slice(inline[0].length), 'base64').toString();
  return readIfSmall(resolve(dirname(file), decodeURI(url)));
}

/** Returns the last one in the text. */
function namedMap(text: string): string | undefined {
  const at = text.lastIndexOf('//# sourceMappingURL=');
  return at < 0 ? undefined : /^\S+/.exec(text.slice(at + '//# sourceMappingURL='.length))?.[0];
}

function readIfSmall(path: string): string | undefined {
  if (!existsSync(path) || statSync(path).size > MAX_BYTES) return undefined;
  return readFileSync(path, 'utf8');
}
