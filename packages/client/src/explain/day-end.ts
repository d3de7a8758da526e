/** Tells why a run continued after it had reached its tenant's budget of the day. Pure. */

/** Last part of the id of such a question, after step, revision and attempt. */
const DAY_QUESTION = /\.day$/;

/**
 * Undefined if a person has answered the question, or if it is not about the budget of a day.
 *
 * @param data of the event `wait_resolved`
 *
 * @param actor of the event: the person who raised the budget of the day by answering another run
 */
export function dayResumption(
  { waitId, decision }: { readonly waitId: string; readonly decision?: string | undefined },
  actor: string | undefined,
): string | undefined {
  if (decision !== undefined || !DAY_QUESTION.test(waitId)) return undefined;
  return actor === undefined ? 'the day of the budget has ended' : 'the budget of the day was raised';
}
