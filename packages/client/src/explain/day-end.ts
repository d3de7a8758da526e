/** The event by which a run that had reached the budget of its tenant's day goes on by itself. Pure. */

/** The id of the question about the budget of a day is its step, revision, attempt, and this. */
const DAY_QUESTION = /\.day$/;

/** True if nobody has answered the question: the day has ended. @param data of the event `wait_resolved` */
export function isDayEnd({
  waitId,
  decision,
}: {
  readonly waitId: string;
  readonly decision?: string | undefined;
}): boolean {
  return decision === undefined && DAY_QUESTION.test(waitId);
}
