/** Projects with a version of the packages beside `firebase.json`, and codebases as earlier versions left them. */
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
  /** Content of the tarball; undefined: from a registry. */
  readonly content: string | undefined;
}

/** As a package manager leaves it. */
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

/** The caller disposes of it. */
export function projectWith(installed: Installed): TemporaryProject {
  const project = temporaryProject(withPackage({ 'firebase.json': '{}' }));
  install(project, installed);
  return project;
}

/** Gives the project a `.gitignore` as 0.2.0 left it, which wrote one line. @param before without that line */
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
