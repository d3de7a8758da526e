import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InitProblem } from '../../../packages/cli/src/init/problem.ts';
import { regionOf } from '../../../packages/cli/src/init/region.ts';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});

const region = fc.constantFrom('europe-west1', 'asia-northeast1', 'me-central2', 'us-east4', 'us-central1');

/** Ways to set the region of all functions of a codebase or of one function, and texts that set none. */
const FOR_ALL = [
  (of: string) => `setGlobalOptions({ region: '${of}' });`,
  (of: string) => `setGlobalOptions({\n  maxInstances: 10,\n  region: ["${of}"],\n});`,
  (of: string) => `options.setGlobalOptions({memory: '1GiB', region:\`${of}\`})`,
];
const FOR_ONE = [
  (of: string) => `export const a = onRequest({ cors: true, region: '${of}' }, handler);`,
  (of: string) => `exports.a = functions.region('${of}').https.onCall(handler);`,
];
const FOR_NONE = [
  () => 'setGlobalOptions({ maxInstances: 10 });',
  (of: string) => `// setGlobalOptions({ region: '${of}' });`,
  (of: string) => `/* export const a = onRequest({ region: '${of}' }, handler); */`,
  (of: string) => `const url = 'https://${of}-shop.cloudfunctions.net/a';`,
];

const projectWith = (texts: readonly string[], hosting?: unknown): Parameters<typeof regionOf>[0] => ({
  codebases: [
    {
      name: 'default',
      source: 'functions',
      language: 'js',
      prefix: undefined,
      ignore: undefined,
      entryTexts: texts,
    },
  ],
  firebaseJson: { text: '', read: { functions: [], firestore: [], hosting } },
});

describe('the region of the functions', () => {
  test('is read from the project’s files, settings for all functions before those for one', () => {
    fc.assert(
      fc.property(
        fc.record({ all: fc.option(region), one: fc.option(region), site: fc.option(region), none: region }),
        fc.nat(99),
        ({ all, one, site, none }, pick) => {
          const some = (ways: readonly ((of: string) => string)[], of: string) =>
            ways[pick % ways.length]?.(of) ?? '';
          const text = [
            some(FOR_NONE, none),
            ...(one === null ? [] : [some(FOR_ONE, one)]),
            ...(all === null ? [] : [some(FOR_ALL, all)]),
          ].join('\n');
          const hosting =
            site === null
              ? { public: 'p' }
              : [{ rewrites: [{ function: { functionId: 'a', region: site } }] }];
          // Options for all functions apply to each one.
          const wanted = all ?? one ?? site ?? 'us-central1';
          const found = regionOf(projectWith([text], hosting), undefined);
          expect(found.region).toBe(wanted);
          const isNamed = (all ?? one ?? site) !== null;
          expect(found.why).toMatch(isNamed ? /^as in / : /no file of the project names one/);
          expect(regionOf(projectWith([text], hosting), none)).toEqual({
            region: none,
            why: 'as --region says',
          });
        },
      ),
    );
  });

  test('is the default if functions are in several regions, and is printed', () => {
    const found = regionOf(
      projectWith([FOR_ONE[0]?.('us-east4') ?? '', FOR_ONE[1]?.('europe-west1') ?? '']),
      undefined,
    );
    expect(found).toEqual({
      region: 'us-central1',
      why: 'the default: your functions name several (us-east4, europe-west1)',
    });
  });

  test.each(['', 'Europe-West1', 'europe', 'eur3', "us-east4', x: '", 'a-b1'])('cannot be %j', (given) => {
    expect(() => regionOf(projectWith([]), given)).toThrow(InitProblem);
  });
});

test('cairn init writes and prints the region of the project, and accepts another with --region', async () => {
  for (const [words, wanted] of [
    [[], 'europe-west3'],
    [['--region', 'asia-east1'], 'asia-east1'],
  ] as const) {
    const project = temporaryProject(
      withPackage({
        'firebase.json': '{ "functions": { "source": "functions" } }',
        'functions/package.json': '{ "main": "index.js" }',
        'functions/index.js': "setGlobalOptions({ region: 'europe-west3' });",
      }),
    );
    opened.push(project);
    const { code, out, err } = await project.init(['--yes', '--no-install', ...words]);
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`Region of its functions and database: ${wanted} (as `),
    ]);
    const files = project.files();
    expect(files['cairn/src/index.js']).toContain(`region: '${wanted}',`);
    const { firestore } = JSON.parse(files['firebase.json'] ?? '');
    expect(firestore).toEqual([expect.objectContaining({ database: 'cairn', location: wanted })]);
    expect(out).toContain(`firebase firestore:databases:create cairn --location=${wanted}\n`);
  }
  const project = temporaryProject(withPackage({ 'firebase.json': '{}' }));
  opened.push(project);
  const { err } = await project.init(['--yes', '--no-install', '--region', 'here', '--json']);
  expect(JSON.parse(err).error.code).toBe('REGION_INVALID');
});

test('a database that an earlier version added without a location is created where the user says', async () => {
  const project = temporaryProject(withPackage({ 'firebase.json': '{}' }));
  opened.push(project);
  await project.init(['--yes', '--no-install']);
  project.write(
    'firebase.json',
    (project.files()['firebase.json'] ?? '').replace(/"location": "us-central1",/, ''),
  );
  const { out } = await project.init([]);
  expect(out).toContain('firebase firestore:databases:create cairn --location=LOCATION\n');
});
