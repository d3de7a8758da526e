/** The rules of the architecture as one table each, and the functions that find what breaks them. */
import { posix } from 'node:path';
import { codeOf, importsOf } from './code.ts';

export interface SourceFile {
  /** From the root of the project, with slashes. */
  readonly path: string;
  readonly text: string;
}

interface Layer {
  /** Layers it may import besides itself. */
  readonly layers: readonly string[];
  /** Packages it may import; subpaths included. */
  readonly packages: readonly string[];
}

const PURE = ['core', 'ports'];
const INNER = [...PURE, 'journal', 'engine', 'operations'];

/** Imports that a layer of the engine may have. A folder that is not here is an error. */
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
  // Lint rules look at a program's text: they know operations by their names, and load nothing of the engine.
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
      // The wire to the servers of the local cloud (clients/wire.ts).
      'node:net',
      'node:path',
      // The streams that the Firestore client expects its reads to come from (clients/calls-by-frames.ts).
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

/** The folders of the engine, in layers. */
const ENGINE = 'packages/cairn/src/';

/** The package that a file belongs to: `packages/cairn`; undefined outside of them. */
export function packageOf(path: string): string | undefined {
  return /^packages\/[^/]+/.exec(path)?.[0];
}

/** The offences of one file against the direction of imports, in words. */
export function layering(file: SourceFile): string[] {
  return [...leaving(file), ...within(file)];
}

/** Another package is imported by its name, so that only what it exports is seen. Tests may look inside. */
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

/** An installation is written as any user's is, and so are agents: with what the package exports. */
const INSTALLATION_PACKAGES = ['cairn', 'zod'];
/** A kit is one whose settings are parameters. */
const KIT_PACKAGES = [...INSTALLATION_PACKAGES, 'firebase-functions'];

function installationLayering({ path, text }: SourceFile, packages: readonly string[]): string[] {
  return importsOf(text)
    .filter(({ from }) => !from.startsWith('.') && !packages.some((name) => isOf(name, from)))
    .map(({ from }) => `${path}: the installation may not import ${from}`);
}

/** The local cloud serves any functions, so it knows nothing of the engine. It takes HTTP from the module that says what an import costs. */
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

/** The statements of the API about itself, and the events it tells: all that its clients may know of the engine, as types. */
const TOLD = ['cairn/api/calls', 'cairn/api/events', 'cairn/journal-events'];

/** Edits a person's `firebase.json` and keeps its comments and formatting; nothing but `init` loads it. */
const EDITS_JSON = ['packages/cli/src/init/firebase-json.ts', 'jsonc-parser'] as const;

/** The client runs in any project and in a browser: of the engine it has types, and nothing else. */
function clientLayering({ path, text }: SourceFile): string[] {
  return importsOf(text)
    .filter(({ from, typeOnly }) => !from.startsWith('.') && !(typeOnly && TOLD.includes(from)))
    .map(({ from }) => `${path}: the client may not import ${from}`);
}

/** The command line is a client of the API: of the engine it has types and the table of indexes, and of packages nothing else to run. */
function cliLayering({ path, text }: SourceFile): string[] {
  return importsOf(text).flatMap(({ from, typeOnly }) => {
    if (from.startsWith('node:') || from.startsWith('.')) return [];
    if (from === '@cairn/client' || from === 'cairn/indexes') return [];
    // Starts the local cloud; loaded by that command only.
    if (path === 'packages/cli/src/commands/dev.ts' && from === '@cairn/local/dev') return [];
    // Serves the API as tools; loaded by that command only, since the SDK takes as long to load as all the rest.
    if (path === 'packages/cli/src/commands/mcp.ts' && from === '@cairn/mcp/stdio') return [];
    if (path === EDITS_JSON[0] && from === EDITS_JSON[1]) return [];
    // The report of a sweep, whose file brings the test kit itself.
    const isTold = from === 'zod' || from === 'cairn/testing' || TOLD.includes(from);
    return isTold && typeOnly ? [] : [`${path}: the command line may not import ${from}`];
  });
}

/** The tools for agents are a client of the API as well: nothing they do goes around its roles. */
const MCP_PACKAGES = ['@cairn/client', '@modelcontextprotocol/server', 'node:crypto', 'zod'];

function mcpLayering({ path, text }: SourceFile): string[] {
  return importsOf(text)
    .filter(({ from, typeOnly }) => !from.startsWith('.') && !(typeOnly && TOLD.includes(from)))
    .filter(({ from }) => !MCP_PACKAGES.some((name) => isOf(name, from)))
    .map(({ from }) => `${path}: the tools for agents may not import ${from}`);
}

/** Whatever else the console took would be in the page of everybody who looks. */
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

/** The console is a client of the API as the command line is, in a browser. Pages know parts, never the other way round. */
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

/** A package, or something that it exports below its name. */
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

/** Not deterministic, or not under a test's control: only where the world comes in. */
const WORLD: readonly Ban[] = [
  { pattern: /\bDate\.now\b/, what: 'Date.now' },
  { pattern: /\bnew Date\(\s*\)/, what: 'new Date()' },
  { pattern: /\bMath\.random\b/, what: 'Math.random' },
  { pattern: /\bprocess\.env\b|\benv\b[^;=\n]*=\s*process\b/, what: 'process.env' },
  { pattern: /\bconsole\s*\./, what: 'console' },
];
/** In functions a timer goes through the clock. */
const TIMERS: readonly Ban[] = [{ pattern: /\bset(?:Timeout|Interval)\s*\(/, what: 'a timer of its own' }];
/** `any` is the linter's to find: it knows a type from a name. */
const NOWHERE: readonly Ban[] = [
  { pattern: /\benum\s+\w+\s*\{|\bnamespace\s+\w+\s*\{/, what: 'syntax that types cannot be stripped from' },
];

/** Files that may use the world: platform of the functions, the test kit's patience, mains and composition roots of the rest. */
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

/** Test files share the modules of these folders (scripts/jest/runtime.cjs), and would read what another one has put into a variable. */
const SHARED_BY_TESTS = /^packages\/(?:cairn\/src\/(?!platform\/)|local-(?:firestore|kit|tasks)\/src\/)/;

/** Variables of a module that change. */
export function stateful({ path, text }: SourceFile): string[] {
  if (!SHARED_BY_TESTS.test(path)) return [];
  return [...codeOf(text).matchAll(/^(?:export )?let .*/gm)].map(([variable]) => `${path}: ${variable}`);
}

/** A file beyond this is split. There are no exemptions. */
export const MAX_LINES = 400;

export function tooLong({ path, text }: SourceFile): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > MAX_LINES ? [`${path}: ${lines} lines; ${MAX_LINES} are allowed`] : [];
}

/** The head of a file says what it owns. Tests are described by their names. */
export function headless({ path, text }: SourceFile): string[] {
  if (/^test\/.*\.test\.ts$/.test(path) || /^(?:\/\*\*|\/\/|#!)/.test(text)) return [];
  return [`${path}: no comment at its head says what it owns`];
}

const QUESTION_WORDS = 'What|Of|Who|Whose|Whom|Whether|How|Where|Which|Why';
const COMMENT_AS_QUESTION = new RegExp(
  `^[ \\t]*(?:/\\*\\*\\s*(?:\\*\\s)?|// )(?:${QUESTION_WORDS})\\b.*`,
  'gm',
);

/** A comment begins with its subject ("The reason why …"), so that a reader need not guess it from the code below. */
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

/** Rings of modules that import each other when they run, each told once. */
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
 * Names that a file of a package exports and no other file mentions: they belong to that file alone. `entries` are the files that a
 * package offers to others.
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
