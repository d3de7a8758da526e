/** Rules for the two package files: the functions are installed separately, with the tested versions. */

export interface PackageFile {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Versions of the functions that are not exact or differ from the root's. */
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

/** Peers that are not a range of whole majors (`^7.3.0 || ^8.0.0`), or whose range excludes the tested version. */
export function untestedPeers(root: PackageFile, { peerDependencies = {} }: PackageFile): string[] {
  const known = { ...root.devDependencies, ...root.dependencies };
  return Object.entries(peerDependencies).flatMap(([name, range]) => {
    const lowest = range
      .split(' || ')
      .map((one) => /^\^([1-9]\d*)\.(\d+)\.(\d+)$/.exec(one)?.slice(1).map(Number));
    if (lowest.includes(undefined)) return [`${name}: ${range} is no range of whole majors`];
    const tested = (known[name] ?? '').split('.').map(Number);
    const isTested = lowest.some((one) => one?.[0] === tested[0] && !isBelow(tested, one ?? []));
    return isTested ? [] : [`${name}: ${range} leaves out ${known[name] ?? 'a version'}, which is tested`];
  });
}

function isBelow(version: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((part, i) => version[i] !== part);
  return at >= 0 && (version[at] ?? 0) < (other[at] ?? 0);
}

/** Packages that the functions import but that a deployment does not have. */
export function undeclared(
  imported: readonly string[],
  { dependencies, peerDependencies }: PackageFile,
): string[] {
  const declared = { ...peerDependencies, ...dependencies };
  const names = imported
    .filter((from) => !from.startsWith('.') && !from.startsWith('node:'))
    .map((from) =>
      from
        .split('/')
        .slice(0, from.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  return [...new Set(names)].filter((name) => !(name in declared));
}
