/**
 * Checks the version of Node before anything else is loaded, because an old one would fail with an error about a missing
 * function.
 */

/**
 * @param running such as `20.20.2`
 * @param engines `engines.node` of the manifest: `>=22`
 * @returns the refusal and what to do, or undefined if that Node is new enough
 */
export function nodeRefusal(running: string, engines: string): string | undefined {
  const [, oldest = '0'] = /^>=(\d+)/.exec(engines) ?? [];
  if (Number.parseInt(running, 10) >= Number(oldest)) return undefined;
  return `cairn: Node ${running} is too old; Node ${oldest} or newer is needed\nInstall one, such as the current LTS of https://nodejs.org, and call cairn again.\n`;
}

/** Strips types without a flag, has SQLite, and is a runtime of Cloud Functions. */
const OLDEST_THAT_SERVES = [22, 18] as const;

/**
 * Reason why this Node cannot serve the functions of a project; undefined if it can. Other commands run with any version in
 * `engines`.
 *
 * @param running as in `process.versions.node`
 */
export function servingRefusal(running: string): string | undefined {
  const [major = 0, minor = 0] = running.split('.').map(Number);
  const [least, leastMinor] = OLDEST_THAT_SERVES;
  if (major > least || (major === least && minor >= leastMinor)) return undefined;
  return `Cairn needs Node ${least}.${leastMinor} or newer to serve functions; this is ${running}`;
}
