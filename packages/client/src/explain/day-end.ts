/** Finds the event by which a run continued that had reached the budget of its tenant's day. Pure. */

/** The id of the question about the budget of a day is its step, revision, attempt, and this. */
const DAY_QUESTION = /\.day$/;

/**
 * Undefined: a person has answered the question, or it is another one.
 *
 * @param data of the event `wait_resolved`
 *
 * @param actor of the event: the person who raised the day by the answer to another run
 */
export function dayResumption(
  { waitId, decision }: { readonly waitId: string; readonly decision?: string | undefined },
  actor: string | undefined,
): string | undefined {
  if (decision !== undefined || !DAY_QUESTION.test(waitId)) return undefined;
  return actor === undefined ? 'the day of the budget has ended' : 'the budget of the day was raised';
}
