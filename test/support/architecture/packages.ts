/** What must hold between the two package files: the functions are installed on their own, with what was tested here. */

export interface PackageFile {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Versions of the functions that differ from the root's, or that are not exact. */
export function differingVersions(root: PackageFile, functions: PackageFile): string[] {
  const known = { ...root.devDependencies, ...root.dependencies };
  const wanted = Object.entries({ ...functions.devDependencies, ...functions.dependencies });
  return wanted.flatMap(([name, version]) => {
    if (!/^\d+\.\d+\.\d+$/.test(version)) return [`${name}: ${version} is not an exact version`];
    return known[name] === version
      ? []
      : [`${name}: it has ${version}, the root has ${known[name] ?? 'none'}`];
  });
}

/** Packages that the functions import and would not find once they are deployed. */
export function undeclared(imported: readonly string[], { dependencies = {} }: PackageFile): string[] {
  const names = imported
    .filter((from) => !from.startsWith('.') && !from.startsWith('node:'))
    .map((from) =>
      from
        .split('/')
        .slice(0, from.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  return [...new Set(names)].filter((name) => !(name in dependencies));
}
