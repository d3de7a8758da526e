/** The rules of the architecture, as a table each, and the functions that find violations. */
import { posix } from 'node:path';
import { codeOf, importsOf } from './code.ts';

export interface SourceFile {
  /** Relative to the root of the project, with slashes. */
  readonly path: string;
  readonly text: string;
}

interface Layer {
  /** Other layers that it may import. */
  readonly layers: readonly string[];
  /** Packages that it may import, including subpaths. */
  readonly packages: readonly string[];
}

const PURE = ['core', 'ports'];
const INNER = [...PURE, 'journal', 'engine', 'operations'];

/** Allowed imports of each layer of the engine. A missing folder is an error. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  core: { layers: [], packages: ['node:crypto', 'canonicalize', 'croner', 'immutable'] },
  ports: { layers: ['core'], packages: [] },
  journal: { layers: PURE, packages: [] },
  engine: { layers: [...PURE, 'journal'], packages: ['zod'] },
  operations: { layers: [...PURE, 'journal', 'engine'], packages: [] },
  recovery: { layers: INNER, packages: [] },
  store: {
    layers: PURE,
    packages: ['node:async_hooks', '@google-cloud/firestore', '@google-cloud/firestore-api', 'immutable'],
  },
  queue: { layers: PURE, packages: ['@google-cloud/tasks'] },
  bus: { layers: PURE, packages: ['@google-cloud/pubsub'] },
  memory: { layers: PURE, packages: ['immutable'] },
  http: { layers: PURE, packages: [] },
  triggers: { layers: [...INNER, 'http'], packages: ['node:crypto', 'zod'] },
  api: { layers: [...INNER, 'http'], packages: ['hono', 'zod', 'node:crypto'] },
  capabilities: { layers: [...PURE, 'engine'], packages: ['@octokit/request', 'zod'] },
  // Lint rules see only a program's text: they know operations by name, and load nothing of the engine.
  lint: { layers: [], packages: ['eslint'] },
  testing: { layers: [...INNER, 'recovery', 'memory'], packages: [] },
  platform: {
    layers: [...INNER, 'recovery', 'store', 'queue', 'bus', 'http', 'triggers', 'api', 'capabilities'],
    packages: [
      'node:crypto',
      'node:diagnostics_channel',
      'node:http',
      'node:fs',
      'node:module',
      // Frames to the servers of the local cloud (clients/wire.ts).
      'node:net',
      'node:path',
      // The Firestore client expects reads to return streams (clients/calls-by-frames.ts).
      'node:stream',
      'node:url',
      'node:util',
      'node:zlib',
      '@google-cloud/firestore',
      '@google-cloud/firestore-api',
      '@google-cloud/tasks',
      '@google-cloud/pubsub',
      '@grpc/grpc-js',
      '@opentelemetry/api',
      '@opentelemetry/exporter-metrics-otlp-http',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-metrics',
      '@opentelemetry/sdk-trace',
      'firebase-admin',
      'firebase-functions',
    ],
  },
  'index.ts': { layers: ['core', 'engine'], packages: [] },
  'functions.ts': { layers: ['platform'], packages: [] },
  'effects.ts': { layers: ['core', 'engine', 'platform'], packages: [] },
  'eslint.ts': { layers: ['lint'], packages: [] },
  'indexes.ts': { layers: ['store'], packages: [] },
  'github.ts': { layers: ['capabilities', 'platform'], packages: [] },
  'slack.ts': { layers: ['capabilities', 'triggers'], packages: [] },
  'outside.ts': { layers: ['capabilities'], packages: [] },
};

/** The folder of the engine, which has layers. */
const ENGINE = 'packages/cairn/src/';

/** The package of a file, such as `packages/cairn`; undefined outside of packages. */
export function packageOf(path: string): string | undefined {
  return /^packages\/[^/]+/.exec(path)?.[0];
}

/** Messages for the forbidden imports of a file. */
export function layering(file: SourceFile): string[] {
  return [...leaving(file), ...within(file)];
}

/** Packages import each other by name, so that they use only exports. Tests may import internal files. */
function leaving({ path, text }: SourceFile): string[] {
  const home = path.startsWith('functions/src/') ? 'functions' : packageOf(path);
  if (home === undefined) return [];
  return importsOf(text)
    .filter(({ from }) => from.startsWith('.') && !targetOf(path, from).startsWith(`${home}/`))
    .map(({ from }) => `${path}: ${from} lies outside ${home}`);
}

function within(file: SourceFile): string[] {
  const { path } = file;
  if (path.startsWith(ENGINE)) return engineLayering(file);
  if (path.startsWith('functions/src/')) return installationLayering(file, INSTALLATION_PACKAGES);
  if (path.startsWith('packages/agents/src/')) return installationLayering(file, INSTALLATION_PACKAGES);
  if (path.startsWith('packages/calls/src/')) return installationLayering(file, KIT_PACKAGES);
  if (path.startsWith('packages/client/src/')) return clientLayering(file);
  if (path.startsWith('packages/cli/src/')) return cliLayering(file);
  if (path.startsWith('packages/mcp/src/')) return mcpLayering(file);
  if (path.startsWith('packages/console/src/')) return consoleLayering(file);
  if (path.startsWith('packages/local')) return localLayering(file);
  return [];
}

function engineLayering({ path, text }: SourceFile): string[] {
  const own = layerOf(path);
  const layer = LAYERS[own];
  if (!layer) return [`${path}: '${own}' is no layer; add it to the table with what it may import`];
  return importsOf(text).flatMap(({ from }) => {
    if (!from.startsWith('.')) {
      const allowed = layer.packages.some((name) => isOf(name, from));
      return allowed ? [] : [`${path}: ${own} may not import ${from}`];
    }
    const other = layerOf(targetOf(path, from));
    return other === own || layer.layers.includes(other) ? [] : [`${path}: ${own} may not import ${other}`];
  });
}

/** An installation, like agents, uses only exports of the package, as a user's code does. */
const INSTALLATION_PACKAGES = ['cairn', 'zod'];
/** A kit is an installation with parameters as settings. */
const KIT_PACKAGES = [...INSTALLATION_PACKAGES, 'firebase-functions'];

function installationLayering({ path, text }: SourceFile, packages: readonly string[]): string[] {
  return importsOf(text)
    .filter(({ from }) => !from.startsWith('.') && !packages.some((name) => isOf(name, from)))
    .map(({ from }) => `${path}: the installation may not import ${from}`);
}

/** The local cloud serves any functions, so it must not import the engine. It imports HTTP from a module that avoids a costly import. */
function localLayering({ path, text }: SourceFile): string[] {
  const imports = importsOf(text);
  return [
    ...imports
      .filter(({ from }) => isOf('cairn', from))
      .map(({ from }) => `${path}: the local cloud may not import ${from}`),
    ...imports
      .filter(({ from, typeOnly }) => from === 'node:http' && !typeOnly)
      .map(() => `${path}: the local cloud imports values of node:http from @cairn/local-kit/http/node-http`),
  ];
}

/** Types of the API's calls and events, the only parts of the engine that its clients may import. */
const TOLD = ['cairn/api/calls', 'cairn/api/events', 'cairn/journal-events'];

/** Edits a user's `firebase.json` without losing comments and formatting; only `init` loads it. */
const EDITS_JSON = ['packages/cli/src/init/firebase-json.ts', 'jsonc-parser'] as const;

/** The client runs in any project and in browsers, so it imports only types of the engine. */
function clientLayering({ path, text }: SourceFile): string[] {
  return importsOf(text)
    .filter(({ from, typeOnly }) => !from.startsWith('.') && !(typeOnly && TOLD.includes(from)))
    .map(({ from }) => `${path}: the client may not import ${from}`);
}

/** The command line is a client of the API. It imports types and the table of indexes of the engine, and no other packages at run time. */
function cliLayering({ path, text }: SourceFile): string[] {
  return importsOf(text).flatMap(({ from, typeOnly }) => {
    if (from.startsWith('node:') || from.startsWith('.')) return [];
    if (from === '@cairn/client' || from === 'cairn/indexes') return [];
    // Starts the local cloud; only that command loads it.
    if (path === 'packages/cli/src/commands/dev.ts' && from === '@cairn/local/dev') return [];
    // Serves the API as tools; only that command loads it, because the SDK doubles the loading time.
    if (path === 'packages/cli/src/commands/mcp.ts' && from === '@cairn/mcp/stdio') return [];
    if (path === EDITS_JSON[0] && from === EDITS_JSON[1]) return [];
    // Types for the report of a sweep; the user's file imports the test kit itself.
    const isTold = from === 'zod' || from === 'cairn/testing' || TOLD.includes(from);
    return isTold && typeOnly ? [] : [`${path}: the command line may not import ${from}`];
  });
}

/** The tools for agents are a client of the API too, so that they cannot bypass its roles. */
const MCP_PACKAGES = ['@cairn/client', '@modelcontextprotocol/server', 'node:crypto', 'zod'];

function mcpLayering({ path, text }: SourceFile): string[] {
  return importsOf(text)
    .filter(({ from, typeOnly }) => !from.startsWith('.') && !(typeOnly && TOLD.includes(from)))
    .filter(({ from }) => !MCP_PACKAGES.some((name) => isOf(name, from)))
    .map(({ from }) => `${path}: the tools for agents may not import ${from}`);
}

/** Allowed packages of the console; each is part of the page that users load. */
const CONSOLE_PACKAGES = [
  '@cairn/client',
  'react',
  'react-dom',
  'wouter',
  '@tanstack/react-query',
  '@tanstack/react-virtual',
  '@xyflow/react',
  '@dagrejs/dagre',
  'cronstrue',
  '@firebase/app',
  '@firebase/auth',
];

const PAGES = 'packages/console/src/pages/';

/** The console is a client of the API in a browser. Pages import parts, never the reverse. */
function consoleLayering({ path, text }: SourceFile): string[] {
  return importsOf(text).flatMap(({ from, typeOnly }) => {
    const isOwn = from.startsWith('.');
    const isPackage = CONSOLE_PACKAGES.some((name) => isOf(name, from));
    const isTold = typeOnly && TOLD.includes(from);
    if (!isOwn && !isPackage && !isTold) return [`${path}: the console may not import ${from}`];
    const isBelow = !path.startsWith(PAGES) && path !== 'packages/console/src/app.tsx';
    return isBelow && targetOf(path, from).startsWith(PAGES)
      ? [`${path}: what pages are made of may not import ${from}`]
      : [];
  });
}

function targetOf(path: string, from: string): string {
  return posix.join(posix.dirname(path), from);
}

/** True for a package and its subpaths. */
function isOf(name: string, from: string): boolean {
  return from === name || from.startsWith(`${name}/`);
}

function layerOf(path: string): string {
  return path.slice(ENGINE.length).split('/')[0] ?? '';
}

interface Ban {
  readonly pattern: RegExp;
  readonly what: string;
}

/** Calls that are not deterministic or that tests cannot control; allowed only in root files. */
const WORLD: readonly Ban[] = [
  { pattern: /\bDate\.now\b/, what: 'Date.now' },
  { pattern: /\bnew Date\(\s*\)/, what: 'new Date()' },
  { pattern: /\bMath\.random\b/, what: 'Math.random' },
  { pattern: /\bprocess\.env\b|\benv\b[^;=\n]*=\s*process\b/, what: 'process.env' },
  { pattern: /\bconsole\s*\./, what: 'console' },
];
/** Functions must use timers of the clock. */
const TIMERS: readonly Ban[] = [{ pattern: /\bset(?:Timeout|Interval)\s*\(/, what: 'a timer of its own' }];
/** Does not include `any`, which the linter finds, because it can distinguish types from names. */
const NOWHERE: readonly Ban[] = [
  { pattern: /\benum\s+\w+\s*\{|\bnamespace\s+\w+\s*\{/, what: 'syntax that types cannot be stripped from' },
];

/** Files that may use such calls: the platform of the functions, the test kit's timeouts, mains and composition roots. */
export function isRoot(path: string): boolean {
  return (
    path.startsWith('packages/cairn/src/platform/') ||
    path === 'packages/cairn/src/testing/world/real-time.ts' ||
    /^packages\/local(?:\/src\/(?:main|cloud|cloud-process|host\/workers\/(?:worker|shifted-time))|-\w+\/src\/(?:main|server))\.ts$/.test(
      path,
    ) ||
    path === 'packages/cli/src/main.ts' ||
    path === 'packages/client/src/transport.ts' ||
    path === 'packages/calls/src/index.ts' ||
    path === 'packages/console/src/api/device-clock.ts' ||
    path === 'packages/console/vite.config.ts' ||
    /^(?:scripts|bench|test)\//.test(path)
  );
}

/** Forbidden calls and names. */
export function banned({ path, text }: SourceFile): string[] {
  const code = codeOf(text);
  const bans = [
    ...NOWHERE,
    ...(isRoot(path) ? [] : WORLD),
    ...(/^(?:packages\/(?:cairn|calls)|functions)\/src\//.test(path) && !isRoot(path) ? TIMERS : []),
  ];
  const found = bans.filter(({ pattern }) => pattern.test(code)).map(({ what }) => `${path}: ${what}`);
  const note = /\b(?:TO[D]O|FIX[M]E|XX[X])\b/.exec(text);
  return note ? [...found, `${path}: ${note[0]}`] : found;
}

/** Test files share the modules of these folders (scripts/jest/runtime.cjs), so a variable would leak from one test file to another. */
const SHARED_BY_TESTS = /^packages\/(?:cairn\/src\/(?!platform\/)|local-(?:firestore|kit|tasks)\/src\/)/;

/** Mutable variables of a module. */
export function stateful({ path, text }: SourceFile): string[] {
  if (!SHARED_BY_TESTS.test(path)) return [];
  return [...codeOf(text).matchAll(/^(?:export )?let .*/gm)].map(([variable]) => `${path}: ${variable}`);
}

/** Longer files must be split, without exemptions. */
export const MAX_LINES = 400;

export function tooLong({ path, text }: SourceFile): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > MAX_LINES ? [`${path}: ${lines} lines; ${MAX_LINES} are allowed`] : [];
}

/** The head comment of a file states what it owns. Tests need none, because their names describe them. */
export function headless({ path, text }: SourceFile): string[] {
  if (/^test\/.*\.test\.ts$/.test(path) || /^(?:\/\*\*|\/\/|#!)/.test(text)) return [];
  return [`${path}: no comment at its head says what it owns`];
}

const QUESTION_WORDS = 'What|Of|Who|Whose|Whom|Whether|How|Where|Which|Why';
const COMMENT_AS_QUESTION = new RegExp(
  `^[ \\t]*(?:/\\*\\*\\s*(?:\\*\\s)?|// )(?:${QUESTION_WORDS})\\b.*`,
  'gm',
);

/** A comment begins with its subject ("The reason why …"), so that a reader need not infer it from the code. */
export function subjectless({ path, text }: SourceFile): string[] {
  return [...text.matchAll(COMMENT_AS_QUESTION)].map(([comment]) => `${path}: ${comment.trim()}`);
}

export function crowded(paths: readonly string[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > most)
    .map(([folder, count]) => `${folder}: ${count} files; ${most} are allowed`);
}

/** Cycles of modules that import each other at run time, each reported once. */
export function rings(files: readonly SourceFile[]): string[] {
  const edges = new Map(
    files.map(({ path, text }) => {
      const values = importsOf(text).filter(({ from, typeOnly }) => from.startsWith('.') && !typeOnly);
      return [path, values.map(({ from }) => posix.join(posix.dirname(path), from))];
    }),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (trail.includes(path) || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}

const EXPORTED = /^export (?:async )?(?:function\*?|const|(?:abstract )?class|interface|type) (\w+)/gm;

/**
 * Names that a file of a package exports but no other file mentions, so they should not be exported. `entries` are the public files of
 * a package.
 */
export function exportedForNobody(files: readonly SourceFile[], entries: ReadonlySet<string>): string[] {
  const mentions = new Map<string, number>();
  for (const { text } of files)
    for (const name of new Set(text.match(/\b[A-Za-z_]\w*/g)))
      mentions.set(name, (mentions.get(name) ?? 0) + 1);
  return files
    .filter(({ path }) => path.startsWith('packages/') && !entries.has(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPORTED)]
        .filter(([, name = '']) => mentions.get(name) === 1)
        .map(([, name]) => `${path}: no other file uses the export ${name}`),
    );
}
