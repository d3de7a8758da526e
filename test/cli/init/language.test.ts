import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { filesOf } from '../../../packages/cli/src/init/files.ts';
import { readProject } from '../../../packages/cli/src/init/project.ts';
import { regionOf } from '../../../packages/cli/src/init/region.ts';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});

function read(source: string, files: Readonly<Record<string, string>>) {
  const firebaseJson = JSON.stringify({ functions: { source } });
  const project = temporaryProject(withPackage({ 'firebase.json': firebaseJson, ...files }));
  opened.push(project);
  return readProject(project.root, filesOf(project.root));
}

/** `firebase.json` names an output folder; the sources are in `origin`. */
const layout = fc
  .tuple(fc.constantFrom('dist', 'build', 'out'), fc.constantFrom('apps/api', 'functions', 'packages/a/fns'))
  .chain(([output, origin]) =>
    fc.constantFrom(`${output}/${origin}`, `${origin}/${output}`).map((source) => ({ source, origin })),
  );

describe('of a codebase in an output folder', () => {
  test('the language and the region are those of its sources, built or not', () => {
    fc.assert(
      fc.property(layout, fc.boolean(), fc.boolean(), ({ source, origin }, isTypescript, isBuilt) => {
        const text = "setGlobalOptions({ region: 'europe-west1' });";
        const project = read(source, {
          [`${origin}/src/main.${isTypescript ? 'ts' : 'js'}`]: text,
          ...(isTypescript && { [`${origin}/tsconfig.json`]: '{}' }),
          // Belongs to the web app.
          'tsconfig.json': '{}',
          ...(isBuilt && { [`${source}/package.json`]: '{"main":"main.js"}', [`${source}/main.js`]: '' }),
        });
        expect(project.codebases[0]?.language).toBe(isTypescript ? 'ts' : 'js');
        expect(regionOf(project, undefined).region).toBe('europe-west1');
      }),
      { numRuns: 30 },
    );
  });

  test('the language is that of the workspace if the sources are elsewhere', () => {
    for (const [file, language] of [
      ['tsconfig.base.json', 'ts'],
      ['tsconfig.json', 'ts'],
      ['jsconfig.json', 'js'],
    ] as const) {
      const { codebases } = read('dist/functions', { [file]: '{}', 'libs/api/src/main.ts': '' });
      expect(codebases[0]?.language).toBe(language);
    }
  });
});
