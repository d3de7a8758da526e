/** Projects with installed packages beside `firebase.json`, and codebases of earlier versions. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

export const MANIFEST = 'node_modules/cairn/package.json';
export const FUNCTIONS = 'cairn/package.json';
export const INDEXES = 'cairn/firestore.indexes.json';
export const RECORD = 'cairn/init-record.json';
export const IGNORES = '.gitignore';

export const TARBALLS = '!cairn/packages/*.tgz';

export interface Installed {
  readonly version: string;
  /** Content of the tarball; undefined for a package from a registry. */
  readonly content: string | undefined;
}

/** Writes the files of an installed package. */
export function install(project: TemporaryProject, { version, content }: Installed): void {
  const { [MANIFEST]: text = '{}' } = withPackage({});
  project.write(MANIFEST, JSON.stringify({ ...JSON.parse(text), version }));
  const tarball = `packed/cairn-${version}.tgz`;
  if (content !== undefined) project.write(tarball, content);
  const cairn = content === undefined ? version : `file:${tarball}`;
  project.write('package.json', JSON.stringify({ devDependencies: { cairn } }));
}

export const installed = fc
  .record({
    version: fc.constantFrom('0.2.0', '0.3.0'),
    build: fc.option(fc.constantFrom('first', 'second'), { nil: undefined }),
  })
  .map(({ version, build }) => ({ version, content: build && `${build} build of ${version}` }));

/** The caller must dispose of the project. */
export function projectWith(installed: Installed): TemporaryProject {
  const project = temporaryProject(withPackage({ 'firebase.json': '{}' }));
  install(project, installed);
  return project;
}

/** Writes a `.gitignore` in the form of 0.2.0, which added one line. @param before text without that line */
export function withEarlierIgnores(project: TemporaryProject, before: string | null): void {
  const written = `${before ?? ''}.cairn/\n`;
  const record = JSON.parse(project.files()[RECORD] ?? '');
  record.edited = record.edited.filter(({ path }: { path: string }) => path !== IGNORES);
  record.edited.push({
    path: IGNORES,
    sha256: createHash('sha256').update(written).digest('hex'),
    before,
  });
  record.ignored = ['.cairn/'];
  project.write(RECORD, JSON.stringify(record));
  project.write(IGNORES, written);
}
