// Extracts the lock file of a package from a lock file with all of its dependencies. Works offline, unlike npm.

/**
 * @param manifest of the package: exact versions
 * @param lock a package-lock.json, parsed, with the same versions of the same dependencies
 * @returns the npm-shrinkwrap.json with the dependencies only; the installing project provides peers
 * @throws Error if the lock lacks a package of the manifest
 */
export function lockOf(manifest, lock) {
  const { name, version, license, dependencies, peerDependencies, engines } = manifest;
  const found = new Map();
  const pending = [];
  const need = (from, wanted, isOptional) => {
    const path = pathOf(lock.packages, from, wanted);
    if (path === undefined) {
      if (isOptional) return;
      throw new Error(`the lock has no ${wanted} for ${from || name}`);
    }
    if (found.has(path)) return;
    found.set(path, lock.packages[path]);
    pending.push(path);
  };
  for (const [wanted, exact] of Object.entries(dependencies)) {
    const locked = lock.packages[`node_modules/${wanted}`];
    if (locked?.version !== exact)
      throw new Error(`${name} needs ${wanted} ${exact}; the lock has ${locked?.version ?? 'none'}`);
    need('', wanted, false);
  }
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, ...rest } = found.get(path);
    for (const wanted of Object.keys(dependencies))
      need(path, wanted, Object.hasOwn(optionalDependencies, wanted));
    for (const wanted of Object.keys(optionalDependencies)) need(path, wanted, true);
    for (const wanted of Object.keys(peerDependencies))
      need(path, wanted, rest.peerDependenciesMeta?.[wanted]?.optional === true);
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    name,
    version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: {
      '': { name, version, license, dependencies, peerDependencies, engines },
      ...Object.fromEntries(sorted),
    },
  };
}

/** Returns the path where Node finds a package that `from` requires; undefined if there is none. */
function pathOf(packages, from, name) {
  const folders = from === '' ? [] : from.split('/node_modules/');
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    const path = [...folders.slice(0, depth), name].join('/node_modules/');
    const whole = depth === 0 ? `node_modules/${name}` : path;
    if (Object.hasOwn(packages, whole)) return whole;
  }
  return undefined;
}
