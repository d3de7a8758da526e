/** Checks the version of Node before anything else is loaded, because an older one fails with the name of a missing function. */

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
