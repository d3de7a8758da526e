/** The files of the codebase that `init` makes. Pure. */
import { firestoreIndexes } from 'cairn/indexes';
import { json } from './json.ts';
import type { InstalledPackage, Language, PackageManager } from './project.ts';

interface TemplateOptions {
  /** Name of the codebase, its folder, its database and its export. */
  readonly name: string;
  readonly language: Language;
  /** Major version of Node that it is deployed on. */
  readonly node: string;
  /** Region of the functions and their queues. */
  readonly region: string;
  readonly installed: InstalledPackage;
  readonly packageManager: PackageManager;
}

interface Template {
  /** Relative to the folder of the codebase. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Description in a few words. */
  readonly what: string;
}

/** TypeScript version that the types of the packages are tested with. */
const TYPESCRIPT = '7.0.2';

export function templatesOf(options: TemplateOptions): Template[] {
  const { name, language, installed, packageManager } = options;
  const { tarball } = installed;
  return [
    { path: 'package.json', content: manifestOf(options), what: 'dependencies of the codebase' },
    ...(language === 'ts'
      ? [{ path: 'tsconfig.json', content: TSCONFIG, what: 'build for a deployment' }]
      : []),
    ...(packageManager === 'pnpm'
      ? [{ path: PNPM_SETTINGS, content: PNPM_WORKSPACE, what: 'makes it a project of its own for pnpm' }]
      : []),
    {
      path: `src/index.${language}`,
      content: indexOf(options),
      what: 'exports the functions of Cairn',
    },
    { path: `src/workflows/order.${language}`, content: ORDER, what: 'an example, to be replaced' },
    { path: 'firestore.rules', content: RULES, what: 'no client may read or write this database' },
    {
      path: 'firestore.indexes.json',
      // The collections follow the name of the export.
      content: json(firestoreIndexes(`${name}_`)),
      what: 'indexes of the collections of Cairn',
    },
    ...(tarball === undefined
      ? []
      : [
          {
            path: `packages/${tarball.fileName}`,
            content: tarball.content,
            what: 'the package cairn: a deployment sees only this folder',
          },
        ]),
  ];
}

function manifestOf({ name, language, node, installed }: TemplateOptions): string {
  const { version, dependencies, tarball } = installed;
  const pinned = Object.fromEntries(
    // The newest supported major version, because the packages are tested with it.
    ['firebase-admin', 'firebase-functions', 'zod'].map((one) => [
      one,
      dependencies[one]?.split(' || ').at(-1) ?? '*',
    ]),
  );
  const isTypescript = language === 'ts';
  return json({
    name: `${name}-functions`,
    private: true,
    type: 'module',
    main: isTypescript ? 'lib/index.js' : 'src/index.js',
    engines: { node },
    ...(isTypescript && { scripts: { build: 'tsc' } }),
    dependencies: { cairn: tarball ? `file:packages/${tarball.fileName}` : version, ...pinned },
    ...(isTypescript && { devDependencies: { typescript: TYPESCRIPT } }),
  });
}

/** Beside the package.json. */
export const PNPM_SETTINGS = 'pnpm-workspace.yaml';

/** Older versions of pnpm need `packages`. */
export const PNPM_WORKSPACE = `# A project of its own: a deployment sees only this folder. No package here needs its build scripts,
# and from version 11 on pnpm fails, also in the build of a deployment, if it ignores one.
packages: ['.']
strictDepBuilds: false
`;

const TSCONFIG = json({
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    rootDir: 'src',
    outDir: 'lib',
  },
  include: ['src'],
});

function indexOf({ name, language, region }: TemplateOptions): string {
  return `/** The functions of Cairn, deployed as \`${name}-api\`, \`${name}-drive\` and so on. */
import { cairnFunctions } from 'cairn/functions';
import { order } from './workflows/order.${language}';

export const ${name} = cairnFunctions({
  workflows: [order],
  region: '${region}',
  database: '${name}',
  managedAccount: true,
});
`;
}

const ORDER = `/** An example of a workflow. What a step returns is kept, so that a run continues from there after a crash. */
import { defineWorkflow } from 'cairn';
import { z } from 'zod';

export const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.object({ orderId: z.string(), amountCents: z.number().int().positive() }),
  steps(step) {
    const reserve = step('reserve', ({ input }) => ({ reservation: \`stock-\${input.orderId}\` }));
    const charge = step(
      'charge',
      { needs: { reserve }, timeout: '30s', retry: { maxAttempts: 5 } },
      ({ input, reserve }) => ({ reservation: reserve.reservation, paidCents: input.amountCents }),
    );
    const ship = step('ship', { needs: { charge } }, ({ charge, log }) => {
      log(\`shipping \${charge.reservation}\`);
      return { shipped: charge.reservation };
    });
    return { ship };
  },
});
`;

const RULES = `rules_version = '2';

// Cairn's functions use the server library, which rules do not bind. Nobody else reads or writes this database.
service cloud.firestore {
  match /databases/{database}/documents {
    match /{document=**} {
      allow read, write: if false;
    }
  }
}
`;
