// Reports deprecated packages in the lock files and known vulnerabilities (`npm audit`). An unreachable registry is reported but
// is not a failure, because a build must not depend on the network. Plain JS without dependencies, because it runs before the
// installation.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each folder has a lock file; `firebase deploy` installs the second. */
const FOLDERS = ['.', 'functions'];
const AUDIT_LIMIT_MS = 60_000;
/** Severities that fail the check; others are only reported. */
const FAILING = new Set(['high', 'critical']);

/**
 * @param lock a parsed package-lock.json, into which npm writes deprecation messages
 * @returns one line for each package
 */
export function deprecatedIn(lock) {
  return Object.entries(lock.packages ?? {}).flatMap(([path, { version, deprecated }]) =>
    deprecated === undefined ? [] : [`${nameOf(path)}@${version} is deprecated: ${deprecated}`],
  );
}

/**
 * Optional packages missing from a lock file. If the registry lacks a package for another platform, npm omits it from the lock;
 * then `npm ci` refuses the lock everywhere, and `npm install` omits the package on that platform.
 *
 * @param lock a package-lock.json, parsed
 * @returns one line for each package
 */
export function missingIn({ packages = {} }) {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !foldersAround(path).some((folder) => `${folder}node_modules/${name}` in packages))
      .map(
        ([name, version]) =>
          `${name}@${version}, which ${nameOf(path) || 'the root'} may need, is not in the lock file`,
      ),
  );
}

/**
 * @param text what `npm audit --json` printed
 * @returns `unreachable`: the reason why there is no report; otherwise lines that fail and lines that only inform
 */
export function auditOf(text) {
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    return { unreachable: text.trim().slice(0, 200) || 'npm audit printed nothing' };
  }
  if (report.auditReportVersion === undefined) {
    return { unreachable: report.message ?? report.error?.summary ?? 'npm audit gave no report' };
  }
  const bad = [];
  const mild = [];
  for (const { name, severity, range, via } of Object.values(report.vulnerabilities ?? {})) {
    const titles = (via ?? []).flatMap((one) => (typeof one === 'object' ? [one.title] : []));
    const line = `${name} ${range} (${severity})${titles.length > 0 ? `: ${titles.join('; ')}` : ''}`;
    (FAILING.has(severity) ? bad : mild).push(line);
  }
  return { bad, mild };
}

/** Prints the findings. True if none of them fails the check. */
export function checkPackages(root) {
  let isGood = true;
  const failing = (line) => {
    isGood = false;
    console.log(`packages: ${line}`);
  };
  for (const folder of FOLDERS) {
    const cwd = join(root, folder);
    const lock = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8'));
    for (const line of [...deprecatedIn(lock), ...missingIn(lock)]) failing(line);
    const { stdout, error } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
      cwd,
      encoding: 'utf8',
      timeout: AUDIT_LIMIT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { unreachable, bad, mild } = error ? { unreachable: error.message } : auditOf(stdout);
    if (unreachable !== undefined) {
      console.log(`packages: not asked for vulnerabilities of ${folder}/package-lock.json: ${unreachable}`);
      continue;
    }
    for (const line of mild) console.log(`packages: ${line}`);
    bad.forEach(failing);
  }
  return isGood;
}

/** Folders in which Node searches the dependencies of a package: its own and its parents. */
function foldersAround(path) {
  const folders = ['', ...(path === '' ? [] : [`${path}/`])];
  const inside = '/node_modules/';
  for (let at = path.indexOf(inside); at >= 0; at = path.indexOf(inside, at + 1))
    folders.push(path.slice(0, at + 1));
  return folders;
}

function nameOf(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
