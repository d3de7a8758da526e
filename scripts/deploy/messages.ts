/** Messages of `npm run deploy` after a check or a deployment that did not succeed. Pure. */

export interface ProcessEnd {
  /** Null if a signal ended the process. */
  readonly code: number | null;
}

/** The message after firebase-tools has ended; undefined if it succeeded. Its own messages, which say what failed, are above. */
export function closingMessage({ code }: ProcessEnd, dryRun: boolean): string | undefined {
  if (code === 0) return undefined;
  const what = code === null ? 'Interrupted.' : 'The deployment failed; the reason is above.';
  if (dryRun) return `${what} Nothing was deployed.`;
  const next = code === null ? 'Run' : 'Fix the cause, or wait if it is temporary. Then run';
  return `${what} What is deployed already stays. ${next} the same command again to deploy the rest.`;
}

/** @param reason what Google or the network answered to a check before the deployment */
export function uncheckedMessage(reason: string): string {
  return `The project could not be checked: ${reason}\n    Nothing was deployed. Run the same command again.`;
}
